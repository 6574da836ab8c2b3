-- With the record as it now stands.
return {ARGV[1], answer, now, value}
