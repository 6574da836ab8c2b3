-- Reads the record, and the clock that judges it.
if not r then return reply('absent') end
return reply('found', r.value)
