//! Event files with large records, as `TensorFlow` and PyTorch write them: histograms, a graph, an image.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::event_file::put_frame;
use xtask::console;
use xtask::random::Random;

/// Width and height of the image, pixels.
pub(super) const PICTURE_SIDE: u32 = 4_096;
const STARTED_SECS: f64 = 1_700_000_000.0;
const TAGS: u64 = 50;
const STEPS: u64 = 1_000;
const BINS: u32 = 30;

/// The folder of the three runs, which are written unless they exist.
pub(super) fn on_disk(scratch: &Path) -> Result<PathBuf> {
    let data = scratch.join("data");
    let (folder, finished) = (data.join("heavy"), data.join("heavy.finished"));
    if !finished.exists() {
        console::line(&format!("    write {}", folder.display()));
        write(&folder.join("histograms"), histograms)?;
        write(&folder.join("graph"), |events| {
            let mut definition = Message::at(0);
            definition.bytes(4, &transformer());
            events.put(&definition)
        })?;
        write(&folder.join("picture"), |events| {
            let mut image = Message::default();
            image.varint(1, PICTURE_SIDE.into());
            image.varint(2, PICTURE_SIDE.into());
            image.varint(3, 1);
            image.bytes(4, &png()?);
            let mut value = Message::default();
            value.bytes(1, b"large");
            value.bytes(4, &image.0);
            events.put(&summary(0, &value))
        })?;
        fs::write(&finished, "")?;
    }
    Ok(folder)
}

fn write(folder: &Path, content: impl FnOnce(&mut Events) -> Result<()>) -> Result<()> {
    fs::create_dir_all(folder)?;
    let file = File::create(folder.join("events.out.tfevents.1700000000.host.1.0"))?;
    let mut events = Events(BufWriter::with_capacity(1 << 20, file));
    let mut first = Message::at(0);
    first.bytes(3, b"brain.Event:2");
    events.put(&first)?;
    content(&mut events)?;
    Ok(events.0.flush()?)
}

struct Events(BufWriter<File>);

impl Events {
    fn put(&mut self, event: &Message) -> Result<()> {
        let mut frame = Vec::new();
        put_frame(&mut frame, &event.0);
        Ok(self.0.write_all(&frame)?)
    }
}

/// A protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Beginning of an event at a step.
    fn at(step: u64) -> Self {
        let mut event = Self::default();
        event.double(1, STARTED_SECS + step as f64);
        event.varint(2, step);
        event
    }

    fn varint(&mut self, field: u8, value: u64) {
        self.0.push(field << 3);
        self.raw_varint(value);
    }

    fn double(&mut self, field: u8, value: f64) {
        self.0.push(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u8, bytes: &[u8]) {
        self.0.push(field << 3 | 2);
        self.raw_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn doubles(&mut self, field: u8, values: impl Iterator<Item = f64>) {
        let packed: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        self.bytes(field, &packed);
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

/// An event with one value.
fn summary(step: u64, value: &Message) -> Message {
    let mut values = Message::default();
    values.bytes(1, &value.0);
    let mut event = Message::at(step);
    event.bytes(5, &values.0);
    event
}

/// Bell curves that move and narrow.
fn histograms(events: &mut Events) -> Result<()> {
    let mut random = Random::new(1);
    for step in 0..STEPS {
        for tag in 0..TAGS {
            let along = step as f64 / STEPS as f64;
            let middle = along * (tag as f64 / TAGS as f64 - 0.5);
            let width = 1.0 - 0.6 * along + 0.02 * random.unit();
            let edge = |bin: u32| middle + width * (f64::from(bin) / f64::from(BINS) * 8.0 - 4.0);
            let counts = (0..BINS).map(|bin| {
                let x = f64::from(bin) / f64::from(BINS) * 8.0 - 4.0;
                (1_000.0 * (-x * x / 2.0).exp() + 5.0 * random.unit()).round()
            });
            let counts: Vec<f64> = counts.collect();
            let sum: f64 = counts.iter().sum();
            let mut histogram = Message::default();
            histogram.double(1, edge(0));
            histogram.double(2, edge(BINS));
            histogram.double(3, sum);
            histogram.double(4, middle * sum);
            histogram.double(5, (middle * middle + width * width) * sum);
            histogram.doubles(6, (1..=BINS).map(edge));
            histogram.doubles(7, counts.into_iter());
            let mut value = Message::default();
            value.bytes(1, format!("layers/{tag:02}/weight").as_bytes());
            value.bytes(5, &histogram.0);
            events.put(&summary(step, &value))?;
        }
    }
    Ok(())
}

/// A `GraphDef` of about 100,000 nodes in scopes six deep, and an optimizer of 1,500 operations in one scope.
fn transformer() -> Vec<u8> {
    let mut graph = Message::default();
    let mut put = |name: &str, op_type: &str, inputs: &[&str]| {
        let mut node = Message::default();
        node.bytes(1, name.as_bytes());
        node.bytes(2, op_type.as_bytes());
        for input in inputs {
            node.bytes(3, input.as_bytes());
        }
        graph.bytes(1, &node.0);
    };
    let mut last = "model/embed/tokens".to_owned();
    put(&last, "Placeholder", &[]);
    for layer in 0..96 {
        let before = last.clone();
        for head in 0..64 {
            let mut input = before.clone();
            for operation in 0..16 {
                let name =
                    format!("model/decoder/layers/{layer}/attention/heads/{head}/op{operation}");
                put(
                    &name,
                    ["MatMul", "Add", "Softmax"][operation % 3],
                    &[&input],
                );
                input = name;
            }
            last = input;
        }
        let gelu = format!("model/decoder/layers/{layer}/ffn/gelu");
        put(&gelu, "Gelu", &[&last, &before]);
        last = gelu;
    }
    let mut update = last.clone();
    for number in 0..1_500 {
        let name = format!("optimizer/update{number}");
        let input = if number % 3 == 0 { &last } else { &update };
        put(&name, "Adam", &[input]);
        update = name;
    }
    put("loss/softmax", "SoftmaxCrossEntropy", &[&last]);
    graph.0
}

/// A grey image with noise, which hardly compresses.
fn png() -> Result<Vec<u8>> {
    let side = PICTURE_SIDE as usize;
    let mut random = Random::new(4);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::fast());
    let mut row = vec![0_u8; side + 1];
    for y in 0..side {
        for (x, pixel) in row.iter_mut().skip(1).enumerate() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 256"
            )]
            let shade = ((x + y) as f64 / (2 * side) as f64 * 192.0 + 63.0 * random.unit()) as u8;
            *pixel = shade;
        }
        rows.write_all(&row)?;
    }
    let mut head = Vec::new();
    head.extend_from_slice(&PICTURE_SIDE.to_be_bytes());
    head.extend_from_slice(&PICTURE_SIDE.to_be_bytes());
    head.extend_from_slice(&[8, 0, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [
        (b"IHDR", head),
        (b"IDAT", rows.finish()?),
        (b"IEND", Vec::new()),
    ] {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(&content);
        out.extend_from_slice(&u32::try_from(content.len())?.to_be_bytes());
        out.extend_from_slice(kind);
        out.extend_from_slice(&content);
        out.extend_from_slice(&crc.sum().to_be_bytes());
    }
    Ok(out)
}
