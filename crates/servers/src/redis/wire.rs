//! As much of Redis's protocol as it takes to ask a server how it is.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a server may take for each step of an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Text(String),
    Integer(i64),
    Nothing,
    List(Vec<Reply>),
}

/// Asks the server on this port one thing, over a connection of its own. What it refuses is an error.
pub(crate) fn ask(port: u16, words: &[&str]) -> io::Result<Reply> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&encoded(words))?;
    read(&mut BufReader::new(stream))
}

impl Reply {
    /// A text, or None.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list, without what else is in it. Empty if it is no list.
    pub(crate) fn texts(self) -> Vec<String> {
        match self {
            Self::List(items) => items.into_iter().filter_map(Self::text).collect(),
            _ => Vec::new(),
        }
    }
}

/// [`ask`] for an answer that is a text.
pub(crate) fn ask_text(port: u16, words: &[&str]) -> io::Result<String> {
    let text = ask(port, words)?.text();
    text.ok_or_else(|| io::Error::other("not a text"))
}

/// The value of a field in a text of lines `field:value`, as INFO gives it.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(field, _)| *field == name)
        .map(|(_, value)| value)
}

fn encoded(words: &[&str]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    text.into_bytes()
}

fn read(stream: &mut impl io::BufRead) -> io::Result<Reply> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.trim_end();
    let Some(kind) = line.chars().next() else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let rest = &line[kind.len_utf8()..];
    match kind {
        '+' => Ok(Reply::Text(rest.to_owned())),
        '-' => Err(io::Error::other(rest.to_owned())),
        ':' => Ok(Reply::Integer(number(rest)?)),
        '$' => read_bulk(stream, number(rest)?),
        '*' => {
            let items = (0..number(rest)?).map(|_| read(stream));
            Ok(Reply::List(items.collect::<io::Result<_>>()?))
        }
        _ => Err(io::Error::other(format!("{line:?} is no reply"))),
    }
}

fn read_bulk(stream: &mut impl io::BufRead, length: i64) -> io::Result<Reply> {
    let Ok(length) = u64::try_from(length) else {
        return Ok(Reply::Nothing);
    };
    let mut bytes = Vec::new();
    stream.take(length + 2).read_to_end(&mut bytes)?;
    let text = bytes
        .strip_suffix(b"\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(Reply::Text(String::from_utf8_lossy(text).into_owned()))
}

fn number(text: &str) -> io::Result<i64> {
    text.parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> io::Result<Reply> {
        read(&mut text.as_bytes())
    }

    #[test]
    fn every_kind_of_reply_is_understood() {
        let text = |text: &str| Reply::Text(text.to_owned());
        assert_eq!(parsed("+PONG\r\n").expect("valid"), text("PONG"));
        assert_eq!(parsed(":-3\r\n").expect("valid"), Reply::Integer(-3));
        assert_eq!(parsed("$4\r\na\r\nb\r\n").expect("valid"), text("a\r\nb"));
        assert_eq!(parsed("$-1\r\n").expect("valid"), Reply::Nothing);
        assert_eq!(
            parsed("*2\r\n$1\r\na\r\n*0\r\n").expect("valid"),
            Reply::List(vec![text("a"), Reply::List(vec![])])
        );
    }

    #[test]
    fn a_refusal_is_an_error_and_so_is_a_reply_that_is_cut() {
        assert_eq!(parsed("-ERR no\r\n").expect_err("no").to_string(), "ERR no");
        for cut in ["", "$4\r\nab", "*2\r\n+a\r\n", "?\r\n"] {
            assert!(parsed(cut).is_err(), "{cut:?}");
        }
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "# Server\r\nprocess_id:1\r\nid:2\r\n";
        assert_eq!(field(text, "id"), Some("2"));
        assert_eq!(field(text, "pid"), None);
    }
}
