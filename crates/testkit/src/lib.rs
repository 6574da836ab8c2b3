//! The conformance suite that every store passes, and clocks that tests move.
