-- Notes downstream's reference or the document's number.
local owner, epoch, provider, reference = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local open = r and (r.reads == IN_FLIGHT or r.reads == UNKNOWN)
if not open or not is_held_by(owner, epoch) then return reply('not owner') end
if provider ~= '' then r.provider = provider end
if reference ~= '' then r.reference = reference end
save(r)
return reply('annotated')
