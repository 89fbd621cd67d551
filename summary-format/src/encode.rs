//! Event file writer: files that TensorBoard opens unchanged.
//!
//! Every record is one frame with one event, handed to the writer in one call. Content that TensorBoard's messages
//! cannot represent has field numbers of at least 1000, which other readers skip; `FORMAT.md` has the layout.

mod hparams;
mod native;

use std::collections::HashSet;
use std::io::{self, Write};

use crate::formats::tensor_proto::{STRING, TYPES};
use crate::frame::{MAX_PAYLOAD_LEN, masked_crc32c};
use crate::histogram::Histogram;
use crate::hparams::Hparams;
use crate::kind::Kind;
use crate::message::Message;
use crate::tensor::DType;
use crate::tensor::len_of;
use crate::values::Text;

/// `DT_FLOAT` and `DT_DOUBLE` of `DataType`.
const F32: u64 = 1;
const F64: u64 = 2;

/// `START` of `SessionLog.SessionStatus`.
const SESSION_START: u64 = 1;

/// Writes records as an event file.
///
/// The plugin of a tag is named on its first value, as readers expect: one writer writes one file from its beginning.
#[derive(Debug)]
pub struct RecordWriter<W> {
    out: W,
    /// Tags whose plugin is already named in the file.
    named: HashSet<(Kind, String), foldhash::fast::RandomState>,
    /// Reused buffer of one frame.
    frame: Vec<u8>,
}

/// Coordinates of a record in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// The step as counted by the program.
    pub step: i64,
    /// Seconds since 1970.
    pub wall_time_secs: f64,
}

impl<W: Write> RecordWriter<W> {
    /// Begins a file with its version and the name of the writer.
    pub fn new(out: W, wall_time_secs: f64) -> io::Result<Self> {
        let mut writer = Self {
            out,
            named: HashSet::default(),
            frame: Vec::new(),
        };
        let mut source = Message::default();
        source.bytes(1, b"trainscope");
        let mut event = Message::default();
        event.double(1, wall_time_secs);
        event.bytes(3, b"brain.Event:2");
        event.message(10, &source);
        writer.write(&event)?;
        Ok(writer)
    }

    /// Writes one number. If an `f32` would lose bits, the exact number is written as well.
    pub fn scalar(&mut self, tag: &str, at: Moment, value: f64) -> io::Result<()> {
        self.scalars(at, &[(tag, value)])
    }

    /// Writes numbers of several tags as one event: readers get all of them or none.
    pub fn scalars(&mut self, at: Moment, values: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Message::default();
        let mut message = Message::default();
        for &(tag, value) in values {
            message.clear();
            message.bytes(1, tag.as_bytes());
            #[expect(
                clippy::cast_possible_truncation,
                reason = "what is lost is written beside it"
            )]
            let rounded = value as f32;
            message.float(2, rounded);
            if f64::from(rounded).to_bits() != value.to_bits() && !value.is_nan() {
                message.double(1000, value);
            }
            summary.message(1, &message);
        }
        self.write_summary(at, &summary)
    }

    /// Writes a histogram. Its lists must be equally long; excess entries of a longer list are dropped.
    pub fn histogram(&mut self, tag: &str, at: Moment, histogram: &Histogram) -> io::Result<()> {
        let bins = histogram
            .lefts
            .iter()
            .zip(&histogram.rights)
            .zip(&histogram.counts);
        let rows = bins
            .clone()
            .flat_map(|((left, right), count)| [left, right, count]);
        let content: Vec<u8> = rows.flat_map(|number| number.to_le_bytes()).collect();
        let mut tensor = tensor(F64, &[bins.len() as u64, 3]);
        tensor.bytes(4, &content);
        let counted: f64 = bins.map(|(_, count)| count).sum();
        let mut exact = Message::default();
        for (number, count) in [
            (1, histogram.nan),
            (2, histogram.pos_inf),
            (3, histogram.neg_inf),
        ] {
            if count > 0 {
                exact.varint(number, count);
            }
        }
        for (number, value) in [
            (4, histogram.min),
            (5, histogram.max),
            (6, histogram.sum),
            (7, histogram.sum_squares),
            (
                8,
                Some(histogram.count).filter(|count| count.to_bits() != counted.to_bits()),
            ),
        ] {
            if let Some(value) = value {
                exact.double(number, value);
            }
        }
        let mut value = self.value(tag, Kind::Histograms, "histograms", 2);
        value.message(8, &tensor);
        if !exact.is_empty() {
            value.message(1001, &exact);
        }
        self.write_value(at, &value)
    }

    /// Writes encoded images of one size.
    pub fn images(
        &mut self,
        tag: &str,
        at: Moment,
        [width, height]: [u32; 2],
        encoded: &[&[u8]],
    ) -> io::Result<()> {
        let mut tensor = tensor(STRING, &[encoded.len() as u64 + 2]);
        tensor.bytes(8, width.to_string().as_bytes());
        tensor.bytes(8, height.to_string().as_bytes());
        for encoded in encoded {
            tensor.bytes(8, encoded);
        }
        let mut value = self.value(tag, Kind::Images, "images", 3);
        value.message(8, &tensor);
        self.write_value(at, &value)
    }

    /// Writes audio clips as the bytes of WAV files, each with a label, usually markdown.
    pub fn audio(&mut self, tag: &str, at: Moment, clips: &[(&[u8], &str)]) -> io::Result<()> {
        let mut tensor = tensor(STRING, &[clips.len() as u64, 2]);
        for (wav, label) in clips {
            tensor.bytes(8, wav);
            tensor.bytes(8, label.as_bytes());
        }
        let mut value = self.value(tag, Kind::Audio, "audio", 3);
        value.message(8, &tensor);
        self.write_value(at, &value)
    }

    /// Writes a tensor in full; `bytes` are its elements, little-endian and in row-major order. A shape that does not
    /// match the number of bytes is an error.
    pub fn tensor(
        &mut self,
        tag: &str,
        at: Moment,
        (dtype, shape): (DType, &[u64]),
        bytes: &[u8],
    ) -> io::Result<()> {
        let len_bytes = len_of(shape).and_then(|len| len.checked_mul(dtype.size_bytes() as u64));
        if len_bytes != Some(bytes.len() as u64) {
            let reason = "the shape and the content of a tensor disagree";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let number = TYPES.iter().find(|known| known.1 == dtype);
        let number = number.map_or(0, |known| known.0);
        let mut tensor = tensor(number, shape);
        tensor.bytes(4, bytes);
        let mut value = self.value(tag, Kind::Tensors, "tensor", 2);
        value.message(8, &tensor);
        self.write_value(at, &value)
    }

    /// Writes text, usually markdown: as many items as the shape has elements.
    pub fn text(&mut self, tag: &str, at: Moment, text: &Text) -> io::Result<()> {
        let mut tensor = tensor(STRING, &text.shape);
        for item in &text.items {
            tensor.bytes(8, item.as_bytes());
        }
        let mut value = self.value(tag, Kind::Text, "text", 2);
        value.message(8, &tensor);
        self.write_value(at, &value)
    }

    /// Writes hyper-parameters under the tag that TensorBoard expects.
    pub fn hparams(&mut self, at: Moment, hparams: &Hparams) -> io::Result<()> {
        let (tag, content) = hparams::encode(hparams);
        let mut data = Message::default();
        data.bytes(1, b"hparams");
        data.message(2, &content);
        let mut metadata = Message::default();
        metadata.message(1, &data);
        metadata.varint(4, 2);
        let mut value = Message::default();
        value.bytes(1, tag);
        // TensorBoard skips values without a tensor.
        value.message(8, &tensor(F32, &[0]));
        value.message(9, &metadata);
        self.write_value(at, &value)
    }

    /// Writes an event that was serialized elsewhere: the bytes of a `tensorflow.Event`.
    pub fn event(&mut self, event: &[u8]) -> io::Result<()> {
        self.write_payload(event)
    }

    /// Writes the start of a session (`SessionLog`): readers drop points of earlier files at this and later steps.
    pub fn session_start(&mut self, at: Moment) -> io::Result<()> {
        let mut session = Message::default();
        session.varint(1, SESSION_START);
        let mut event = Message::default();
        event.double(1, at.wall_time_secs);
        event.varint(2, at.step.cast_unsigned());
        event.message(7, &session);
        self.write(&event)
    }

    /// Flushes the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Value that begins with its tag and, for the first time, the name of its plugin and the class of its data (2
    /// tensors, 3 sequences of blobs).
    fn value(&mut self, tag: &str, kind: Kind, plugin: &str, data_class: u64) -> Message {
        let mut value = Message::default();
        value.bytes(1, tag.as_bytes());
        if self.named.insert((kind, tag.to_owned())) {
            let mut data = Message::default();
            data.bytes(1, plugin.as_bytes());
            if kind == Kind::Audio {
                // `AudioPluginData`: encoding 2 is WAV.
                data.bytes(2, &[0x10, 11]);
            }
            let mut metadata = Message::default();
            metadata.message(1, &data);
            metadata.varint(4, data_class);
            value.message(9, &metadata);
        }
        value
    }

    fn write_value(&mut self, at: Moment, value: &Message) -> io::Result<()> {
        let mut summary = Message::default();
        summary.message(1, value);
        self.write_summary(at, &summary)
    }

    fn write_summary(&mut self, at: Moment, summary: &Message) -> io::Result<()> {
        let mut event = Message::default();
        event.double(1, at.wall_time_secs);
        event.varint(2, at.step.cast_unsigned());
        event.message(5, summary);
        self.write(&event)
    }

    fn write(&mut self, event: &Message) -> io::Result<()> {
        self.write_payload(event.as_bytes())
    }

    /// Frames an event and writes it in one call.
    fn write_payload(&mut self, payload: &[u8]) -> io::Result<()> {
        let len = payload.len() as u64;
        if len > MAX_PAYLOAD_LEN {
            let reason = "a record is longer than 1 GiB, which no reader takes";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.frame.clear();
        self.frame.extend(len.to_le_bytes());
        self.frame
            .extend(masked_crc32c(&len.to_le_bytes()).to_le_bytes());
        self.frame.extend_from_slice(payload);
        self.frame.extend(masked_crc32c(payload).to_le_bytes());
        self.out.write_all(&self.frame)
    }
}

/// A `TensorProto` without content.
fn tensor(data_type: u64, sizes: &[u64]) -> Message {
    let mut shape = Message::default();
    for &size in sizes {
        let mut dimension = Message::default();
        dimension.varint(1, size);
        shape.message(2, &dimension);
    }
    let mut tensor = Message::default();
    tensor.varint(1, data_type);
    tensor.message(2, &shape);
    tensor
}
