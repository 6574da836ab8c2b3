-- Writes a record where none stands, only to stop later claims.
local tomb_identity, word, nobody, none = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if r then return reply('moved') end
r = begin(tomb_identity)
-- At or after `exp` there are no claims to stop.
if r.exp and now >= r.exp then return reply('expired') end
r.state, r.owner, r.epoch, r.word = CANCELLED, nobody, none, word
save(r)
return reply('cancelled', r.value)
