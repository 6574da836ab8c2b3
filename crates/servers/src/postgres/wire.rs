//! As much of Postgres's protocol as it takes to log in without a password and to run a statement.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a server may take for each step of an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Version 3.0 of the protocol.
const VERSION: i32 = 3 << 16;

/// Logs in to a database of the server on this port, and runs the statement. What is refused is an error.
pub(crate) fn run(port: u16, user: &str, database: &str, statement: &str) -> io::Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut stream = BufReader::new(stream);

    let mut startup = VERSION.to_be_bytes().to_vec();
    for word in ["user", user, "database", database, ""] {
        startup.extend(word.as_bytes());
        startup.push(0);
    }
    send(&mut stream, None, &startup)?;
    wait_until_idle(&mut stream)?;

    let mut query = statement.as_bytes().to_vec();
    query.push(0);
    send(&mut stream, Some(b'Q'), &query)?;
    wait_until_idle(&mut stream)
}

/// A message: its kind, except for the first of a connection, its length with the length's own four bytes, its body.
fn send(stream: &mut BufReader<TcpStream>, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
    let length = i32::try_from(body.len() + 4).map_err(io::Error::other)?;
    let mut message: Vec<u8> = kind.into_iter().collect();
    message.extend(length.to_be_bytes());
    message.extend(body);
    stream.get_mut().write_all(&message)
}

/// Reads messages until the server says that it is ready for a query.
fn wait_until_idle(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u64::try_from(i32::from_be_bytes(length) - 4).map_err(io::Error::other)?;
        let mut body = Vec::new();
        stream.take(length).read_to_end(&mut body)?;
        match kind {
            b'Z' => return Ok(()),
            b'E' => return Err(io::Error::other(message(&body))),
            _ => {}
        }
    }
}

/// The text of an error: its field `M`.
fn message(body: &[u8]) -> String {
    let mut fields = body.split(|byte| *byte == 0);
    let text = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(text.unwrap_or(b"an error without a text")).into_owned()
}
