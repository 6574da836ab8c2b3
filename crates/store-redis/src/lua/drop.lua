-- Drops the record if its time is over, which is what `step.lua` has found no record to mean.
if r then return reply('kept') end
return reply('dropped', redis.call('DEL', KEYS[1]))
