-- Calls an operation off before it runs.
local read, word = ARGV[2], ARGV[3]

if not r then return reply('moved') end
if r.reads == CANCELLED then return reply('cancelled', r.value) end
if r.reads ~= RELEASED then return reply('too late', r.value) end
if not is_as_read(read) then return reply('moved') end

r.word, r.before = word, ''
move(CANCELLED)
save(r)
return reply('cancelled', r.value)
