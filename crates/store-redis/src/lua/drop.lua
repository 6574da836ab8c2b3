-- Drops what is under the key if its time is over.
if value then return {ARGV[1], 'kept', now} end
return {ARGV[1], 'dropped', now, redis.call('DEL', KEYS[1])}
