//! Real servers for tests: started on free ports, ended with whoever started them.

mod proxy;

pub use proxy::{Proxy, Weather};
