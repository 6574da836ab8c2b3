//! The tiered store: truth behind a cache.
