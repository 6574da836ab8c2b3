//! Which version of HTTP the calls of a run are in.

use std::net::SocketAddr;

use http::Version;

/// `1`, as where it is not set, or `2`. For calls whose test names no version.
const VARIABLE: &str = "COUNTERFOIL_TEST_HTTP";

/// # Panics
///
/// If the variable is neither.
pub(crate) fn of_this_run() -> Version {
    match std::env::var_os(VARIABLE) {
        None => Version::HTTP_11,
        Some(version) => match version.to_str() {
            Some("1") => Version::HTTP_11,
            Some("2") => Version::HTTP_2,
            _ => panic!("{VARIABLE} is {version:?}, and not 1 or 2"),
        },
    }
}

/// What a request is for, as its version writes it.
pub(crate) fn target(version: Version, to: SocketAddr, path: &str) -> String {
    if version == Version::HTTP_2 {
        format!("http://{to}{path}")
    } else {
        path.to_owned()
    }
}

/// Before HTTP/2 the host is a field of its own.
pub(crate) fn host(version: Version, to: SocketAddr) -> Option<(String, Vec<u8>)> {
    let host = || ("host".to_owned(), to.to_string().into_bytes());
    (version != Version::HTTP_2).then(host)
}
