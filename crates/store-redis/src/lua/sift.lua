-- Which of many records are worth a look: a mark for each key, '1' for one that may be what is asked for, a state or what
-- is over. It reads no more of a value than its head and the beginning of the identity, and marks what it can't read.
--
-- In a cluster the keys come as arguments: those of several slots can't be declared together.
local wanted, tenant = ARGV[2], ARGV[3]
local keys, from = KEYS, 1
if #KEYS == 0 then keys, from = ARGV, 4 end

local marks = {}
for at = from, #keys do
  local mark = '1'
  -- An error is a table: another type, or a slot that has moved on.
  local head = redis.pcall('GETRANGE', keys[at], 0, 399)
  local key_id = type(head) == 'string' and head:byte(77)
  local tenant_len = key_id and head:byte(127 + key_id)
  if head == '' then
    mark = '0'
  elseif tenant_len and head:byte(1) == 1 then
    local state, over = head:byte(2), false
    if state == CANCELLED or state >= RELEASED then
      local last = struct.unpack('>I6', head, 49)
      local limited, exp, retention = struct.unpack('>BI8I8', head, 78 + key_id)
      if limited == 1 and exp > last then last = exp end
      over = last + retention + SKEW <= now
    elseif state >= IN_FLIGHT and head:byte(4) == 1 and now >= (struct.unpack('>I8', head, 29)) then
      state = UNKNOWN
    end
    if wanted == 'over' then
      if not over then mark = '0' end
    elseif over or state ~= tonumber(wanted) then
      mark = '0'
    elseif tenant ~= '' and head:sub(128 + key_id, 127 + key_id + tenant_len) ~= tenant then
      mark = '0'
    end
  end
  marks[#marks + 1] = mark
end
return {ARGV[1], 'sifted', now, table.concat(marks)}
