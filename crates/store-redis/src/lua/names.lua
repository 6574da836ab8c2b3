-- States, by their place in a life, and the skew of retention, which is put in from the crate that defines it.
local CANCELLED, IN_FLIGHT, ACCEPTED, UNKNOWN, RELEASED, DONE, FAILED = 3, 4, 5, 6, 7, 8, 9
local SKEW = {skew}

