-- Settles an unknown operation.
local read, owner, seen, epoch, state, vouched, word, reference, claim =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8], ARGV[9], ARGV[10]

if not r then return reply('absent') end
if r.reads ~= UNKNOWN or r.epoch ~= seen then return reply('refused', r.value) end
if r.held and r.owner ~= owner then return reply('refused', r.value) end
if state ~= DONE and not vouched then return reply('unvouched') end
if not is_as_read(read) then return reply('moved') end

-- Whoever frees it without having fenced takes the next epoch now, so that a fence raised to it is one that no attempt
-- was ever given.
if state == RELEASED and r.owner ~= owner then
  r.owner, r.epoch, r.claim = owner, epoch, claim
end
if state ~= RELEASED and reference ~= '' then r.reference = reference end
r.word, r.before = word, ''
move(state)
save(r)
return reply('resolved', r.value)
