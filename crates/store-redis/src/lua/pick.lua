-- Reads the record if it reads as this state, and is of this tenant where one is named.
local tenant = ARGV[3]

if reads ~= tonumber(ARGV[2]) then return {ARGV[1], 'absent', now} end
-- Behind the limits and the hash.
local its_tenant = struct.unpack('>Bc0', identity, inside(identity) + 49)
if tenant ~= '' and its_tenant ~= tenant then return {ARGV[1], 'absent', now} end
return {ARGV[1], 'found', now, value}
