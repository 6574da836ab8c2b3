//! outages
