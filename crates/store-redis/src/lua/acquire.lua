-- Claims an operation that has a record and has not ended, or tells what stands.
local by, next_epoch, window = begins:sub(5, 20), begins:sub(21), tonumber(ARGV[6])
local wished, claim_seal = struct.unpack('>I2c0I2c0', slots, 5)

-- Who and what come first, in every state: hash, subject and scope, behind the limits.
if identity:sub(inside(identity) + 17) ~= wished:sub(inside(wished) + 17) then
  return {ARGV[1], 'found', now, value}
end

-- A state, and an epoch.
local named = seen:byte() == reads and seen:sub(2) == epoch and owner ~= by

if reads == IN_FLIGHT and owner == by then
  -- The same call again, its reply lost: the same claim, and a fresh lease as a renewal would give.
  local until_now = struct.unpack('>I8', deadline)
  deadline = struct.pack('>I8', math.max(until_now, now + lease))
else
  if reads == RELEASED then
    if expired then return {ARGV[1], 'expired', now, value} end
    if needs_approval then return {ARGV[1], 'approval missing', now} end
    if not named then return {ARGV[1], 'found', now, value} end
    -- Nothing of the last attempt happened.
    taken, provider_ref, result_ref = 0, '', ''
  elseif reads == UNKNOWN then
    local in_window = window and now < first + window
    if held or not named or not in_window then return {ARGV[1], 'found', now, value} end
    taken = 1
  else
    return {ARGV[1], 'found', now, value}
  end
  -- A new attempt speaks for itself.
  state, owner, epoch, claim, word, acceptance = IN_FLIGHT, by, next_epoch, claim_seal, '', ''
  due, deadline = 1, struct.pack('>I8', now + lease)
  if first == 0 then first = now end
  attempts = math.min(attempts + 1, 4294967295)
end

answer = 'claimed'
