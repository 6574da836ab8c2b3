-- Says that this attempt did nothing. The record stays, with its epoch.
local owner, epoch, word, doubt = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if not r or not is_held_by(owner, epoch) then return reply('not owner') end
if r.reads == RELEASED then return reply('released') end
if r.reads ~= IN_FLIGHT and r.reads ~= UNKNOWN then return reply('not owner') end

if r.taken == 0 then
  keep_acceptance()
  r.word = word
  move(RELEASED)
  save(r)
  return reply('released')
end

-- After a takeover an earlier attempt may have done it. What is unknown already keeps its reason.
if r.state ~= UNKNOWN or r.due == 1 then
  keep_acceptance()
  r.word = doubt
  move(UNKNOWN)
  save(r)
end
return reply('in doubt')
