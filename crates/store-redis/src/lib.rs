//! The Redis store: a cache in front of truth, or alone where a lost write may be repeated.
