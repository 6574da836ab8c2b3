//! The in-memory store: the reference, for tests and single processes.
