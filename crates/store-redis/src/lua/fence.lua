-- Takes the epoch of an unknown operation for reconciling.
--
-- `word` and `acceptance` say again what stood, in the words of the new owner.
local read, owner, seen, epoch, hold, claim, word, acceptance =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]

if not r then return reply('absent') end
if r.reads ~= UNKNOWN then return reply('refused', r.value) end
-- The same call again: it holds it already.
if r.held and r.owner == owner then return reply('fenced', r.value) end
if r.held or r.epoch ~= seen then return reply('refused', r.value) end
if not is_as_read(read) then return reply('moved') end

r.state, r.owner, r.epoch, r.claim, r.word, r.before = UNKNOWN, owner, epoch, claim, word, acceptance
due(bytes(now + hold))
save(r)
return reply('fenced', r.value)
