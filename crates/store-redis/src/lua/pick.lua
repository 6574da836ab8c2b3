-- Reads the record if it reads as this state, and is of this tenant where one is named.
local state, tenant = tonumber(ARGV[2]), ARGV[3]

if not r or r.reads ~= state then return reply('absent') end
local of = struct.unpack('>Bc0', r.who, 33)
if tenant ~= '' and of ~= tenant then return reply('absent') end
return reply('found', r.value)
