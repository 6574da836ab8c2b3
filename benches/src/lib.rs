//! Benchmarks. One file per question, each with a floor (what can't be saved) and a peer in the same run: machines are
//! noisy, so only ratios within one run mean anything.
//!
//! ```text
//! cargo bench -p benches --bench params
//! cargo bench -p benches --bench confirm
//! ```
