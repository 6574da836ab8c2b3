//! What a test says to Redis by itself.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

const BOUND: Duration = Duration::from_secs(20);

/// The reply to one command: the strings in it, in their order. Nothing where there is none.
pub(crate) fn ask(port: u16, words: &[&[u8]]) -> Vec<Vec<u8>> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    stream.set_read_timeout(Some(BOUND)).expect("a timeout");
    let mut command = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        command.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        command.extend_from_slice(word);
        command.extend_from_slice(b"\r\n");
    }
    (&stream).write_all(&command).expect("it takes a command");
    let mut strings = Vec::new();
    read(&mut BufReader::new(&stream), &mut strings);
    strings
}

fn read(from: &mut impl BufRead, into: &mut Vec<Vec<u8>>) {
    let mut line = String::new();
    from.read_line(&mut line).expect("it answers in time");
    let (kind, rest) = line.trim_end().split_at(1);
    let size = || rest.parse::<i64>().expect("a size");
    match kind {
        "$" => {
            if let Ok(size) = usize::try_from(size()) {
                let mut bytes = vec![0; size + 2];
                from.read_exact(&mut bytes).expect("as many as it said");
                bytes.truncate(size);
                into.push(bytes);
            }
        }
        "*" => (0..size()).for_each(|_| read(from, into)),
        "+" | ":" => into.push(rest.as_bytes().to_vec()),
        _ => panic!("redis refuses: {line}"),
    }
}
