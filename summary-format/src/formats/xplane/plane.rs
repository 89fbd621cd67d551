//! One plane: a device or a host, with the texts of its events and statistics.

use std::collections::HashMap;

use super::Reader;
use super::events::{Event, Stats};
use crate::trace::{Device, DeviceWork, Lane, LaneKind, NONE, SliceClass};
use crate::wire::{Fields, Value, text};

/// Lines of devices that summarise other lines.
const DERIVED_LINES: [&str; 9] = [
    "Steps",
    "XLA Modules",
    "XLA TraceMe",
    "Framework Name Scope",
    "Framework Ops",
    "TensorFlow Name Scope",
    "TensorFlow Ops",
    "Source code",
    "Source Code",
];

/// A plane whose texts are read.
pub(super) struct Plane<'a> {
    pub(super) name: String,
    lines: Vec<(&'a [u8], bool)>,
    events: HashMap<u64, &'a [u8]>,
    pub(super) stats: HashMap<u64, &'a [u8]>,
    own_stats: Vec<&'a [u8]>,
}

/// Meaning of the events of a line.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) lane: u16,
    pub(super) begin_nanos: i64,
    pub(super) kind: LineKind,
    pub(super) device: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Host,
    Device,
    Steps,
    Derived,
}

impl<'a> Plane<'a> {
    /// Reads the texts of a plane; `is_cut` if the file ends within it.
    pub(super) fn new(reader: &mut Reader<'a>, message: &'a [u8], is_cut: bool) -> Self {
        let mut plane = Self {
            name: String::new(),
            lines: Vec::new(),
            events: HashMap::new(),
            stats: HashMap::new(),
            own_stats: Vec::new(),
        };
        reader.each(message, is_cut, |_, number, value, is_cut| {
            match (number, value) {
                (2, Value::Bytes(name)) if !is_cut => plane.name = text(name),
                (3, Value::Bytes(line)) => plane.lines.push((line, is_cut)),
                (4, Value::Bytes(entry)) if !is_cut => {
                    // Display name 4, else name 2.
                    if let Some((id, metadata)) = entry_of(entry) {
                        let name = bytes_at(metadata, 4).filter(|name| !name.is_empty());
                        let name = name.or_else(|| bytes_at(metadata, 2));
                        plane.events.insert(id, name.unwrap_or_default());
                    }
                }
                (5, Value::Bytes(entry)) if !is_cut => {
                    if let Some((id, metadata)) = entry_of(entry) {
                        let name = bytes_at(metadata, 2).unwrap_or_default();
                        plane.stats.insert(id, name);
                    }
                }
                (6, Value::Bytes(stat)) if !is_cut => plane.own_stats.push(stat),
                _ => {}
            }
        });
        plane
    }

    /// Name of an event; its number if the file ends before the names.
    pub(super) fn event_name(&self, id: u64) -> String {
        let name = self.events.get(&id);
        name.map_or_else(|| format!("event {id}"), |name| text(name))
    }

    /// Reads the lines.
    pub(super) fn read(&self, reader: &mut Reader<'a>) {
        let stats = Stats::of(&self.own_stats, self);
        if let Some(begin) = stats.number("profile_start_time") {
            reader.started_nanos = i64::try_from(begin).ok();
        }
        let device = self.name.strip_prefix("/device:").map(|name| {
            let id = name.rsplit(':').next().unwrap_or_default();
            // Names may have more behind the number.
            let id = id.split(' ').next().unwrap_or_default();
            (id.parse().unwrap_or(0), name)
        });
        if let Some((id, name)) = device.filter(|_| !self.lines.is_empty()) {
            let head = &mut reader.builder.trace.head;
            head.devices.push(Device {
                id,
                name: name.to_owned(),
                ..Device::default()
            });
        }
        for (line, is_cut) in &self.lines {
            self.line(reader, line, *is_cut, device.map(|(id, _)| id));
        }
    }

    fn line(&self, reader: &mut Reader<'a>, message: &'a [u8], is_cut: bool, device: Option<u32>) {
        let mut id = 0;
        let (mut name, mut shown) = (String::new(), String::new());
        let mut begin_nanos = 0_i64;
        let mut events = Vec::new();
        reader.each(message, is_cut, |_, number, value, is_cut| {
            match (number, value) {
                (1, Value::Varint(value)) => id = value,
                (2, Value::Bytes(value)) if !is_cut => name = text(value),
                (3, Value::Varint(value)) => begin_nanos = value.cast_signed(),
                (4, Value::Bytes(event)) if !is_cut => events.push(event),
                (11, Value::Bytes(value)) if !is_cut => shown = text(value),
                _ => {}
            }
        });
        let kind = match device {
            None => LineKind::Host,
            Some(_) if name == "Steps" => LineKind::Steps,
            Some(_) if DERIVED_LINES.contains(&&*name) => LineKind::Derived,
            Some(_) => LineKind::Device,
        };
        let lane = reader.builder.lane(Lane {
            process: self.name.clone(),
            thread: id.cast_signed().to_string(),
            process_name: self.name.clone(),
            thread_name: if shown.is_empty() { name } else { shown },
            kind: match kind {
                LineKind::Host => LaneKind::Host,
                LineKind::Device => LaneKind::Device,
                LineKind::Steps | LineKind::Derived => LaneKind::Derived,
            },
            ..Lane::default()
        });
        let Some(lane) = lane else {
            reader.builder.trace.counts.over_limit += events.len() as u64;
            return;
        };
        let meaning = Line {
            lane,
            begin_nanos,
            kind,
            device: device.unwrap_or(0),
        };
        for event in events {
            reader.builder.trace.counts.events += 1;
            if let Some(own) = Event::of(event) {
                self.event(reader, meaning, event, &own);
            } else {
                let offset = reader.offset(event);
                reader.builder.trace.counts.damage(offset, event.len());
            }
        }
    }
}

/// Arguments of device work: where it ran, and the bytes of a copy.
pub(super) fn device_work(device: u32, class: SliceClass, stats: &Stats<'_>) -> DeviceWork {
    // `kind_src:pageable kind_dst:device size:1024 dest:0 async:1`
    let size = |details: &str| {
        let mut parts = details.split([' ', ',']);
        parts.find_map(|part| part.strip_prefix("size:")?.parse().ok())
    };
    let bytes = match class {
        SliceClass::Memcpy => stats.text("memcpy_details").and_then(|text| size(&text)),
        SliceClass::Memset => stats.text("memset_details").and_then(|text| size(&text)),
        _ => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a percentage with some digits"
    )]
    let occupancy = stats
        .double("theoretical_occupancy_pct")
        .or_else(|| stats.double("occupancy_pct"))
        .map_or(-1.0, |percent| percent as f32);
    DeviceWork {
        device,
        bytes: bytes.unwrap_or(0),
        blocks_per_multiprocessor: -1.0,
        occupancy_percent: occupancy,
        sequence: NONE,
        ..DeviceWork::default()
    }
}

/// Key and value of an entry of a map.
fn entry_of(entry: &[u8]) -> Option<(u64, &[u8])> {
    let (mut key, mut value) = (0, None);
    for field in Fields::of(entry) {
        match field.ok()? {
            (1, Value::Varint(number)) => key = number,
            (2, Value::Bytes(bytes)) => value = Some(bytes),
            _ => {}
        }
    }
    Some((key, value?))
}

fn bytes_at(message: &[u8], number: u32) -> Option<&[u8]> {
    crate::wire::bytes_of(message, number).ok().flatten()
}
