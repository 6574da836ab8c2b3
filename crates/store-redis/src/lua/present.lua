-- Nothing stands, and nothing comes of the call.
if not value then return {ARGV[1], 'absent', now} end
