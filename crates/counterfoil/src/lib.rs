//! The crate that services add.
