//! Ports that nobody listens on.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Below the ports that the system gives to outgoing connections: one of those could take the port of a server that is
/// down for a moment. So do their partners.
const PORTS: Range<u16> = 11_000..22_000;
/// How far a port's partner lies above it: where a node of a Redis cluster expects the bus ports of the others.
const PARTNER: u16 = 10_000;
const _: () = assert!(PORTS.end + PARTNER <= 32_768);

/// What this process has handed out. A server that was killed must find its port free when it comes back.
static TAKEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// How many ports are tried.
const ATTEMPTS: usize = 5;

/// Starts something on a free port, and on another one if somebody took the port, or its partner, before the server did.
pub(crate) fn on_a_free_one<T>(mut start: impl FnMut(u16) -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..ATTEMPTS {
        let port = free();
        match start(port) {
            Err(Error::Ended { .. }) if !(is_free(port) && is_free(partner(port))) => {}
            outcome => return outcome,
        }
    }
    start(free())
}

/// The port 10000 above, which is for the same server.
pub(crate) fn partner(port: u16) -> u16 {
    port + PARTNER
}

/// A port of 127.0.0.1 that is free now, as is its partner.
fn free() -> u16 {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = usize::from(PORTS.end - PORTS.start);
    let first = usize::try_from(random() % count as u64).expect("it is below a small number");
    let candidates = PORTS.cycle().skip(first).take(count);
    let port = candidates
        .filter(|port| !taken.contains(port))
        .find(|port| is_free(*port) && is_free(partner(*port)))
        .expect("among eleven thousand ports one is free");
    taken.push(port);
    port
}

/// A number that no other process and no other call is likely to get.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Asked by connecting, not by binding: a socket that is bound for a moment stands in the way of a server that comes back
/// to its port, and a child that is being started at that moment holds it open longer.
fn is_free(port: u16) -> bool {
    let answer = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    answer.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_on_which_somebody_listens_is_not_free() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is one");
        let port = listener.local_addr().expect("it has an address").port();
        assert!(!is_free(port));
    }

    fn ended() -> Error {
        Error::Ended {
            server: String::new(),
            log: String::new(),
        }
    }

    #[test]
    fn another_port_is_tried_if_somebody_took_the_first() {
        for offset in [0, PARTNER] {
            let mut taken = Vec::new();
            let outcome = on_a_free_one(|port| {
                if !taken.is_empty() {
                    return Ok(port);
                }
                let port = port + offset;
                taken.push(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("it is free"));
                Err(ended())
            });
            outcome.expect("the second port is free");
        }
    }

    #[test]
    fn a_server_that_ends_for_another_reason_is_not_started_again() {
        let mut starts = 0;
        let outcome: Result<(), Error> = on_a_free_one(|_| {
            starts += 1;
            Err(ended())
        });
        assert!(outcome.is_err());
        assert_eq!(starts, 1);
    }

    #[test]
    fn no_port_is_given_twice() {
        let mut ports: Vec<u16> = (0..50).map(|_| free()).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 50);
    }
}
