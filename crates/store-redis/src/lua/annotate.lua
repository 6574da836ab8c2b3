-- Notes downstream's reference or the document's number.
local brings_provider_ref, brings_result_ref = ARGV[4], ARGV[5]

local is_open = reads == IN_FLIGHT or reads == UNKNOWN
if not is_open or owner ~= ARGV[2] or epoch ~= ARGV[3] then return {ARGV[1], 'not owner', now} end
if brings_provider_ref ~= '' then provider_ref = brings_provider_ref end
if brings_result_ref ~= '' then result_ref = brings_result_ref end
answer = 'annotated'
