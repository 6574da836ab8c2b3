//! The one message of a call, in its frame.
//!
//! ```text
//! body   = *frame                       ; of a unary call, one
//! frame  = flag length message
//! flag   = 1 byte: 0 as it is, 1 compressed
//! length = 4 bytes, big-endian
//! ```

use bytes::{BufMut, Bytes, BytesMut};
use counterfoil_core::answer::{Answer, Status};

const HEAD: usize = 5;

/// What `field` says where the framing is at fault.
const FRAME: &str = "grpc-frame";

/// Why a body is not one message that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadFrame {
    /// No frame at all.
    Missing,
    /// It ends inside a frame.
    Cut,
    /// A flag that nobody knows.
    Flag,
    /// A message that is compressed.
    Compressed,
    /// More than one message.
    Several,
}

/// The message of a body that holds exactly one, uncompressed.
pub(super) fn one_message(body: &Bytes) -> Result<Bytes, BadFrame> {
    let Some(head) = body.get(..HEAD) else {
        return Err(if body.is_empty() {
            BadFrame::Missing
        } else {
            BadFrame::Cut
        });
    };
    match head[0] {
        0 => {}
        1 => return Err(BadFrame::Compressed),
        _ => return Err(BadFrame::Flag),
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let rest = body.slice(HEAD..);
    match usize::try_from(length).map(|length| rest.len().cmp(&length)) {
        Ok(std::cmp::Ordering::Equal) => Ok(rest),
        Ok(std::cmp::Ordering::Greater) => Err(BadFrame::Several),
        Ok(std::cmp::Ordering::Less) | Err(_) => Err(BadFrame::Cut),
    }
}

/// A message in its frame; `None` past 4 GiB.
pub(super) fn framed(message: &impl prost::Message) -> Option<Bytes> {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(HEAD + length);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(length).ok()?);
    // Room was made for all of it.
    message.encode(&mut frame).ok()?;
    Some(frame.freeze())
}

impl From<BadFrame> for Answer {
    fn from(bad: BadFrame) -> Self {
        let (reason, field) = match bad {
            BadFrame::Missing => ("missing_member", FRAME),
            BadFrame::Cut | BadFrame::Flag => ("malformed", FRAME),
            BadFrame::Several => ("given_twice", FRAME),
            BadFrame::Compressed => ("unsupported_media", "grpc-encoding"),
        };
        Self::new(Status::ParamsInvalid)
            .with_reason(reason)
            .with_field(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &'static [u8]) -> Result<Bytes, BadFrame> {
        one_message(&Bytes::from_static(body))
    }

    #[test]
    fn one_frame_is_one_message() {
        assert_eq!(read(b"\0\0\0\0\x02hi").unwrap(), "hi");
        assert_eq!(read(b"\0\0\0\0\0").unwrap(), "");
    }

    #[test]
    fn a_frame_that_is_cut_anywhere_is_refused() {
        let whole = b"\0\0\0\0\x02hi";
        assert_eq!(read(b""), Err(BadFrame::Missing));
        for end in 1..whole.len() {
            assert_eq!(read(&whole[..end]), Err(BadFrame::Cut), "{end}");
        }
        assert_eq!(read(b"\0\xff\xff\xff\xffhi"), Err(BadFrame::Cut));
    }

    #[test]
    fn a_second_message_a_compressed_one_and_an_unknown_flag_are_told_apart() {
        assert_eq!(read(b"\0\0\0\0\x01a\0\0\0\0\x01b"), Err(BadFrame::Several));
        assert_eq!(read(b"\0\0\0\0\x01a\0"), Err(BadFrame::Several));
        assert_eq!(read(b"\x01\0\0\0\x01a"), Err(BadFrame::Compressed));
        assert_eq!(read(b"\x02\0\0\0\x01a"), Err(BadFrame::Flag));
    }

    #[test]
    fn what_is_framed_is_read_back() {
        let message = "x".repeat(300);
        let frame = framed(&message).unwrap();
        assert_eq!(
            one_message(&frame).unwrap(),
            prost::Message::encode_to_vec(&message)
        );
    }
}
