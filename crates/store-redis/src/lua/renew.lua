-- Makes a running lease last at least so long from now.
local lease = tonumber(ARGV[4])

if owner ~= ARGV[2] or epoch ~= ARGV[3] then return {ARGV[1], 'not owner', now} end
if reads == UNKNOWN then return {ARGV[1], 'lapsed', now} end
if reads ~= IN_FLIGHT then return {ARGV[1], 'not owner', now} end

local until_now = struct.unpack('>I8', deadline)
deadline = struct.pack('>I8', math.max(until_now, now + lease))
answer = 'renewed'
