return {ARGV[1], answer, now}
