-- Whether the record is still the one that the caller read, and made its words for.
if redis.sha1hex(value) ~= ARGV[2] then return {ARGV[1], 'moved', now} end
