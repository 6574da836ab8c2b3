-- Says that this attempt did nothing. The record stays, with its epoch.
local released, doubt = ARGV[4], ARGV[5]

if owner ~= ARGV[2] or epoch ~= ARGV[3] then return {ARGV[1], 'not owner', now} end
if reads == RELEASED then return {ARGV[1], 'released', now} end
if reads ~= IN_FLIGHT and reads ~= UNKNOWN then return {ARGV[1], 'not owner', now} end
-- After a takeover an earlier attempt may have done it. What is unknown already keeps its reason.
if taken == 1 and state == UNKNOWN and due == 0 then return {ARGV[1], 'in doubt', now} end

-- A word without a result of its own leaves the acceptance's in place.
if state == ACCEPTED then acceptance = word end
if taken == 1 then
  state, word, answer = UNKNOWN, doubt, 'in doubt'
else
  state, word, answer = RELEASED, released, 'released'
end
due, deadline = 0, NEVER
