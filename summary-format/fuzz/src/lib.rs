//! Properties that hold for every file and every way of cutting it.

use arbitrary::Arbitrary;
use trainscope_format::{Format, RecordBatch};

#[path = "../../tests/format/support.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod support;
use support::{DecoderOutput, append, feed, frame, header, whole};

/// An arbitrary file. Checksums cannot be guessed, so some pieces carry valid ones.
#[derive(Arbitrary, Debug)]
pub struct File {
    pieces: Vec<Piece>,
    cuts: Vec<u16>,
    restart: u16,
}

#[derive(Arbitrary, Debug)]
enum Piece {
    /// A frame with this payload.
    Frame(Vec<u8>),
    /// A frame cut off and possibly changed.
    Damaged {
        payload: Vec<u8>,
        len: u8,
        at: u8,
        mask: u8,
    },
    /// A valid header with any length.
    Header(u64),
    /// A valid header with a length that may fit into the file.
    ShortHeader(u8),
    /// Any bytes.
    Raw(Vec<u8>),
    /// Zeros.
    Zeros(u8),
}

impl Piece {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Frame(payload) => frame(payload),
            Self::Damaged {
                payload,
                len,
                at,
                mask,
            } => {
                let mut bytes = frame(payload);
                bytes.truncate(usize::from(*len));
                if let Some(byte) = bytes.get_mut(usize::from(*at)) {
                    *byte ^= mask;
                }
                bytes
            }
            Self::Header(len) => header(*len),
            Self::ShortHeader(len) => header((*len).into()),
            Self::Raw(bytes) => bytes.clone(),
            Self::Zeros(len) => vec![0; usize::from(*len)],
        }
    }
}

/// Panics if the file decodes differently in other cuts or after a restart, or if the offset decreases.
pub fn check(format: Format, file: &File) {
    let bytes = file.pieces.iter().flat_map(Piece::bytes).collect::<Vec<_>>();
    let expected = whole(format, &bytes).comparable();
    let within = |cut: u16| usize::from(cut) % (bytes.len() + 1);

    let mut cuts: Vec<_> = file.cuts.iter().map(|&cut| within(cut)).collect();
    cuts.sort_unstable();
    assert_eq!(feed(format.decoder(""), &bytes, &cuts).comparable(), expected);

    let mut first = feed(format.decoder(""), &bytes[..within(file.restart)], &[]);
    let from = usize::try_from(first.checkpoint.offset).unwrap();
    let decoder = format.resume("", first.checkpoint.clone()).unwrap();
    let rest = feed(decoder, &bytes[from..], &[]);
    append(&mut first.batch, &rest.batch);
    let both = DecoderOutput {
        batch: first.batch,
        ..rest
    };
    assert_eq!(both.comparable(), expected);

    let mut decoder = format.decoder("");
    let mut batch = RecordBatch::default();
    let mut last = 0;
    for (index, byte) in bytes.iter().enumerate() {
        decoder.push(&[*byte], &mut batch);
        let offset = decoder.offset();
        assert!(last <= offset && offset <= index as u64 + 1);
        last = offset;
    }
}
