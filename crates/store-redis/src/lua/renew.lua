-- Makes a running lease last at least so long from now.
local owner, epoch, lease = ARGV[2], ARGV[3], tonumber(ARGV[4])

if not r or not is_held_by(owner, epoch) then return reply('not owner') end
if r.reads == UNKNOWN then return reply('lapsed') end
if r.reads ~= IN_FLIGHT then return reply('not owner') end
lengthen(lease)
save(r)
return reply('renewed')
