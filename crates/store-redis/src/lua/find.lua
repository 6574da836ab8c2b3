-- Reads the record, and the clock that judges it.
return {ARGV[1], 'found', now, value}
