//! A bare connection of HTTP/2, for frames that no client would send (RFC 9113), with fields as HPACK has them at its plainest
//! (RFC 7541).

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::wait::PATIENCE;

/// A connection. Dropping it hangs up.
#[derive(Debug)]
pub struct RawHttp2(TcpStream);

/// A field's name and value, whatever bytes they are.
pub type Field = (Vec<u8>, Vec<u8>);

/// A frame.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// Its type.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// The stream, or 0 for the connection.
    pub stream: u32,
    /// The rest.
    pub payload: Vec<u8>,
}

/// What became of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// An answer with this status.
    Answered(u16),
    /// It was reset, with this code.
    Reset(u32),
    /// The connection was given up, with this code.
    GoneAway(u32),
    /// The connection was closed without a word.
    Closed,
}

impl Frame {
    /// A part of a body, or the last part.
    pub const DATA: u8 = 0;
    /// The fields of a request or an answer.
    pub const HEADERS: u8 = 1;
    /// The end of a stream, with its code.
    pub const RESET: u8 = 3;
    /// What one side asks of the other.
    pub const SETTINGS: u8 = 4;
    /// Asked for an answer at once.
    pub const PING: u8 = 6;
    /// No further streams are taken.
    pub const GO_AWAY: u8 = 7;
    /// More fields.
    pub const CONTINUATION: u8 = 9;

    /// The last frame of its side of a stream.
    pub const END_STREAM: u8 = 1;
    /// The last fields.
    pub const END_HEADERS: u8 = 4;
    const ACK: u8 = 1;

    /// The bytes of a frame.
    #[must_use]
    pub fn bytes(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).expect("a short frame");
        let mut bytes = length.to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    /// The 32 bits at a place, where a code stands.
    fn code(&self, at: usize) -> u32 {
        let code = self.payload.get(at..at + 4);
        u32::from_be_bytes(code.expect("a code").try_into().expect("four bytes"))
    }
}

impl RawHttp2 {
    /// What a client begins with.
    pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    /// A connection that has begun: the preface, and settings that keep no table of fields.
    pub(crate) async fn connect(to: SocketAddr) -> Self {
        let connected = timeout(PATIENCE, TcpStream::connect(to)).await;
        let connected = connected.expect("a connection is taken in time");
        let mut this = Self(connected.expect("a connection"));
        this.send(Self::PREFACE).await;
        let no_table = [0, 1, 0, 0, 0, 0];
        this.send(Frame::bytes(Frame::SETTINGS, 0, 0, &no_table))
            .await;
        this
    }

    /// Sends bytes. The other side may have hung up meanwhile, which is no error here.
    ///
    /// # Panics
    ///
    /// If they are not taken in time.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let sent = timeout(PATIENCE, self.0.write_all(bytes.as_ref())).await;
        drop(sent.expect("bytes are taken in time"));
    }

    /// Sends a whole request.
    pub async fn request(&mut self, stream: u32, fields: &[Field], body: &[u8]) {
        let mut bytes = Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, stream, &block(fields));
        bytes.extend(Frame::bytes(Frame::DATA, Frame::END_STREAM, stream, body));
        self.send(bytes).await;
    }

    /// The next frame; `None` if the connection is closed. Settings are taken, and pings answered.
    ///
    /// # Panics
    ///
    /// If none comes in time.
    pub async fn frame(&mut self) -> Option<Frame> {
        loop {
            let frame = timeout(PATIENCE, self.read()).await;
            let frame = frame.expect("a frame in time")?;
            let answered = matches!(frame.kind, Frame::SETTINGS | Frame::PING);
            if !answered {
                return Some(frame);
            }
            if frame.flags & Frame::ACK == 0 {
                let payload: &[u8] = match frame.kind {
                    Frame::PING => &frame.payload,
                    _ => &[],
                };
                self.send(Frame::bytes(frame.kind, Frame::ACK, 0, payload))
                    .await;
            }
        }
    }

    async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame {
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & (u32::MAX >> 1),
            payload,
        })
    }

    /// Waits for the answer's head on a stream, or for the end of it.
    pub async fn end(&mut self, stream: u32) -> End {
        while let Some(frame) = self.frame().await {
            match frame.kind {
                Frame::HEADERS if frame.stream == stream => {
                    return End::Answered(status(&frame.payload));
                }
                Frame::RESET if frame.stream == stream => return End::Reset(frame.code(0)),
                // A last stream and no error: the end in order, which lets streams end.
                Frame::GO_AWAY if frame.code(4) != 0 => return End::GoneAway(frame.code(4)),
                _ => {}
            }
        }
        End::Closed
    }
}

/// Fields, each a literal that enters no table.
#[must_use]
pub fn block(fields: &[Field]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            put_length(&mut block, text.len());
            block.extend(text);
        }
    }
    block
}

/// RFC 7541, section 5.1, with seven bits in the first byte, and no Huffman coding.
fn put_length(block: &mut Vec<u8>, length: usize) {
    let byte = |number: usize| u8::try_from(number).expect("seven bits");
    if length < 127 {
        return block.push(byte(length));
    }
    block.push(127);
    let mut left = length - 127;
    while left >= 128 {
        block.push(byte(left % 128) | 128);
        left /= 128;
    }
    block.push(byte(left));
}

/// The status, which comes first: one of the static table, or digits in Huffman's code.
fn status(block: &[u8]) -> u16 {
    match block {
        [known @ 0x88..=0x8e, ..] => [200, 204, 206, 304, 400, 404, 500][usize::from(known - 0x88)],
        // That there is no table is acknowledged in front of the first.
        [0x20, rest @ ..] => status(rest),
        [0x08 | 0x48, length, digits @ ..] if *length >= 128 => {
            let bits: String = digits[..usize::from(length - 128)]
                .iter()
                .map(|byte| format!("{byte:08b}"))
                .collect();
            let mut bits = bits.as_str();
            let mut number = 0;
            for _ in 0..3 {
                // The codes of 0, 1 and 2 have five bits and begin with two zeros.
                let (length, less) = if bits.starts_with("00") {
                    (5, 0)
                } else {
                    (6, 22)
                };
                let code = u16::from_str_radix(&bits[..length], 2).expect("bits");
                number = number * 10 + code - less;
                bits = &bits[length..];
            }
            number
        }
        _ => panic!("no status in a form that is read here: {block:x?}"),
    }
}
