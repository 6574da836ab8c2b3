//! Only tests: see `tests/hashes.rs`.
