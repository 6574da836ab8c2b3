//! The wire between a client and a server fails as it is told.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use counterfoil_servers::{Proxy, Weather};

const BOUND: Duration = Duration::from_secs(10);
const WHILE: Duration = Duration::from_millis(200);

/// A server that answers each byte with the same byte, and tells what it read.
fn echo() -> (u16, Receiver<u8>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (told, heard) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let told = told.clone();
            thread::spawn(move || {
                let mut stream = stream;
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() {
                    if told.send(byte[0]).is_err() || stream.write_all(&byte).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, heard)
}

fn client(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).expect("it listens");
    stream.set_read_timeout(Some(BOUND)).expect("a timeout");
    stream
}

fn reply(client: &mut TcpStream) -> Option<u8> {
    let mut byte = [0];
    match client.read_exact(&mut byte) {
        Ok(()) => Some(byte[0]),
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no end within {BOUND:?}"),
        Err(_) => None,
    }
}

#[test]
fn in_clear_weather_bytes_pass_both_ways() {
    let (port, _heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    client.write_all(b"a").expect("it is open");
    assert_eq!(reply(&mut client), Some(b'a'));
    assert_eq!(proxy.accepted(), 1);
}

#[test]
fn a_lost_reply_was_applied_and_cuts_the_connection() {
    let (port, heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    proxy.set(Weather::RepliesLost);
    client.write_all(b"b").expect("it is open");
    assert_eq!(reply(&mut client), None);
    assert_eq!(heard.recv_timeout(BOUND), Ok(b'b'));
}

#[test]
fn a_lost_request_never_arrives_and_cuts_the_connection() {
    let (port, heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    proxy.set(Weather::RequestsLost);
    client.write_all(b"c").expect("it is open");
    assert_eq!(reply(&mut client), None);
    assert!(heard.recv_timeout(WHILE).is_err());
}

#[test]
fn a_frozen_wire_passes_what_waited_once_it_thaws() {
    let (port, heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    proxy.set(Weather::Frozen);
    client.write_all(b"d").expect("it is open");
    assert!(heard.recv_timeout(WHILE).is_err());
    proxy.set(Weather::Clear);
    assert_eq!(reply(&mut client), Some(b'd'));
}

#[test]
fn a_swallowed_reply_leaves_the_connection_open() {
    let (port, heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    proxy.set(Weather::RepliesSwallowed);
    client.write_all(b"e").expect("it is open");
    assert_eq!(heard.recv_timeout(BOUND), Ok(b'e'));
    client.set_read_timeout(Some(WHILE)).expect("a timeout");
    let nothing = client.read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(nothing, Err(ErrorKind::WouldBlock));
    client.set_read_timeout(Some(BOUND)).expect("a timeout");
    proxy.set(Weather::Clear);
    client.write_all(b"f").expect("it is open");
    assert_eq!(reply(&mut client), Some(b'f'));
}

#[test]
fn injected_bytes_come_before_the_next_reply() {
    let (port, _heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut client = client(&proxy);
    proxy.inject(b"x");
    client.write_all(b"g").expect("it is open");
    assert_eq!(reply(&mut client), Some(b'x'));
    assert_eq!(reply(&mut client), Some(b'g'));
}

#[test]
fn a_cut_ends_every_connection_and_new_ones_are_taken() {
    let (port, _heard) = echo();
    let proxy = Proxy::start(port).expect("it starts");
    let mut first = client(&proxy);
    first.write_all(b"h").expect("it is open");
    assert_eq!(reply(&mut first), Some(b'h'));
    proxy.cut();
    assert_eq!(reply(&mut first), None);
    let mut second = client(&proxy);
    second.write_all(b"i").expect("it is open");
    assert_eq!(reply(&mut second), Some(b'i'));
}
