-- Calls an operation off before it runs.
if reads == CANCELLED then return {ARGV[1], 'cancelled', now, value} end
if reads ~= RELEASED then return {ARGV[1], 'too late', now, value} end

state, word, acceptance, due, deadline = CANCELLED, ARGV[3], '', 0, NEVER
answer = 'cancelled'
