//! Planes with their lines, events and statistics, and the links between events.

use std::collections::{HashMap, HashSet};

use super::Reader;
use crate::trace::{
    DeclaredStep, Device, DeviceWork, Flow, Lane, LaneKind, NONE, Slice, SliceClass, Trace,
};
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
            // Names may continue after the number.
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
            if let Some(fields) = Event::of(event) {
                self.event(reader, meaning, event, &fields);
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

const PICOS_A_NANO: i64 = 1_000;

/// An event of a line.
#[derive(Default)]
pub(super) struct Event<'a> {
    name: u64,
    offset_picos: i64,
    picos: i64,
    /// Number of events whose sum alone is known; they have no time.
    times: u64,
    stats: Vec<&'a [u8]>,
}

impl<'a> Event<'a> {
    /// `None` if the bytes are not an event.
    pub(super) fn of(message: &'a [u8]) -> Option<Self> {
        let mut event = Self::default();
        for field in Fields::of(message) {
            match field.ok()? {
                (1, Value::Varint(value)) => event.name = value,
                (2, Value::Varint(value)) => event.offset_picos = value.cast_signed(),
                (3, Value::Varint(value)) => event.picos = value.cast_signed(),
                (4, Value::Bytes(stat)) => event.stats.push(stat),
                (5, Value::Varint(value)) => event.times = value,
                _ => {}
            }
        }
        Some(event)
    }
}

/// Value of a statistic.
enum Stat<'a> {
    Number(u64),
    Double(f64),
    Text(&'a [u8]),
}

/// Statistics by name.
#[derive(Default)]
pub(super) struct Stats<'a> {
    list: Vec<(&'a [u8], Stat<'a>)>,
}

impl<'a> Stats<'a> {
    pub(super) fn of(messages: &[&'a [u8]], plane: &Plane<'a>) -> Self {
        let stats = messages.iter().filter_map(|message| {
            let (mut name, mut found) = (0, None);
            for field in Fields::of(message) {
                match field.ok()? {
                    (1, Value::Varint(id)) => name = id,
                    (2, Value::Fixed64(bits)) => found = Some(Stat::Double(f64::from_bits(bits))),
                    (3 | 4, Value::Varint(value)) => found = Some(Stat::Number(value)),
                    (5 | 6, Value::Bytes(bytes)) => found = Some(Stat::Text(bytes)),
                    (7, Value::Varint(id)) => {
                        let name = plane.stats.get(&id).copied();
                        found = Some(Stat::Text(name.unwrap_or_default()));
                    }
                    _ => {}
                }
            }
            Some((*plane.stats.get(&name)?, found?))
        });
        Self {
            list: stats.collect(),
        }
    }

    fn get(&self, name: &str) -> Option<&Stat<'a>> {
        let mut found = self
            .list
            .iter()
            .filter(|(known, _)| *known == name.as_bytes());
        found.next().map(|(_, stat)| stat)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Stat::Number(value) => Some(*value),
            Stat::Text(bytes) => str::from_utf8(bytes).ok()?.parse().ok(),
            Stat::Double(_) => None,
        }
    }

    pub(super) fn double(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Stat::Number(value) => Some(*value as f64),
            Stat::Double(value) => Some(*value),
            Stat::Text(bytes) => str::from_utf8(bytes).ok()?.parse().ok(),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Stat::Text(bytes) => Some(text(bytes)),
            _ => None,
        }
    }
}

/// Ends of flows by their type and number.
#[derive(Default)]
pub(super) struct Links {
    producers: HashMap<(u64, u64), u32>,
    consumers: Vec<((u64, u64), u32)>,
}

impl Links {
    fn add(&mut self, slice: u32, stats: &Stats<'_>) {
        let key = |kind: &str, id: &str| Some((stats.number(kind)?, stats.number(id)?));
        if let Some(key) = key("_pt", "_p") {
            self.producers.insert(key, slice);
        }
        if let Some(key) = key("_ct", "_c") {
            self.consumers.push((key, slice));
        }
    }

    /// Adds the flows to a trace.
    pub(super) fn bind(mut self, trace: &mut Trace) {
        if self.producers.is_empty() {
            return;
        }
        let category = trace.texts.intern("context");
        let mut ended = HashSet::new();
        for (key, to) in std::mem::take(&mut self.consumers) {
            if let Some(from) = self.producers.get(&key).copied() {
                trace.flows.push(Flow { from, to, category });
                ended.insert(key);
            }
        }
        trace.counts.flows_without_end += (self.producers.len() - ended.len()) as u64;
    }
}

impl<'a> Plane<'a> {
    /// Appends the slice of an event.
    pub(super) fn event(
        &self,
        reader: &mut Reader<'a>,
        line: Line,
        bytes: &[u8],
        event: &Event<'a>,
    ) {
        let counts = &mut reader.builder.trace.counts;
        if event.times > 0 {
            *counts.unread.entry("aggregate".to_owned()).or_default() += 1;
            return;
        }
        let mut picos = event.picos;
        if picos < 0 {
            counts.negative_durations += 1;
            picos = 0;
        }
        let nanos = |picos: i64| picos.div_euclid(PICOS_A_NANO);
        let begin = line.begin_nanos.saturating_add(nanos(event.offset_picos));
        let end = nanos(event.offset_picos.saturating_add(picos));
        let duration = line.begin_nanos.saturating_add(end).saturating_sub(begin);
        let duration = duration.max(0);
        let stats = Stats::of(&event.stats, self);
        let name = self.event_name(event.name);
        let (category, class) = meaning(line.kind, &name, &stats);
        let step = DeclaredStep {
            number: 0,
            begin,
            end: begin.saturating_add(duration),
        };
        if line.kind == LineKind::Steps {
            if let Ok(number) = name.trim().parse() {
                reader.device_steps.push(DeclaredStep { number, ..step });
            }
        } else if let Some(number) = stats.number("step_num") {
            let number = number.cast_signed();
            reader.steps.push(DeclaredStep { number, ..step });
        }
        let offset = reader.offset(bytes) as u64;
        let builder = &mut reader.builder;
        let Some(name) = builder.name(&name) else {
            builder.trace.counts.over_limit += 1;
            return;
        };
        let is_work = matches!(
            class,
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
        );
        let detail = if is_work {
            let list = &mut builder.trace.device_work;
            let next = u32::try_from(list.len()).unwrap_or(NONE);
            list.push(device_work(line.device, class, &stats));
            next
        } else {
            NONE
        };
        let correlation = stats.number("correlation_id");
        let correlation = correlation.and_then(|number| u32::try_from(number).ok());
        let category = builder.category(category, class);
        let slice = u32::try_from(builder.trace.slices.len()).unwrap_or(NONE);
        builder.push(&Slice {
            begin,
            duration: duration.unsigned_abs(),
            name,
            lane: line.lane,
            category,
            link: correlation.unwrap_or(NONE),
            detail,
            place: offset,
        });
        if slice != NONE {
            reader.links.add(slice, &stats);
        }
    }
}

/// Category and class of an event.
fn meaning(kind: LineKind, name: &str, stats: &Stats<'_>) -> (&'static str, SliceClass) {
    match kind {
        LineKind::Steps | LineKind::Derived => ("derived", SliceClass::Derived),
        LineKind::Device => {
            let lower = name.get(..6).unwrap_or(name).to_ascii_lowercase();
            match &*lower {
                "memcpy" => ("memcpy", SliceClass::Memcpy),
                "memset" => ("memset", SliceClass::Memset),
                _ => ("kernel", SliceClass::Kernel),
            }
        }
        LineKind::Host if name.starts_with('$') => ("python", SliceClass::PythonFrame),
        LineKind::Host if stats.has("step_num") => ("step", SliceClass::Annotation),
        LineKind::Host if stats.has("correlation_id") => ("runtime", SliceClass::Runtime),
        LineKind::Host if stats.has("hlo_op") || is_tensorflow(name) => {
            ("operator", SliceClass::Operator)
        }
        LineKind::Host => ("host", SliceClass::Span),
    }
}

/// `true` for `name/of/the/node:Type`, operators of TensorFlow.
fn is_tensorflow(name: &str) -> bool {
    let Some((node, kind)) = name.split_once(':') else {
        return false;
    };
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_node = |byte: u8| byte.is_ascii_alphanumeric() || b"_.\\/>-".contains(&byte);
    kind.starts_with(|first: char| first.is_ascii_uppercase())
        && kind.bytes().all(is_type)
        && !node.is_empty()
        && node.bytes().all(is_node)
}

#[cfg(test)]
mod tests {
    use super::is_tensorflow;

    #[test]
    fn operators_of_tensorflow_have_a_type() {
        assert!(is_tensorflow("model/dense_1/MatMul:MatMul"));
        for name in [
            "Iterator::Prefetch",
            "$file.py:12 f",
            "a b:C",
            "MatMul",
            ":C",
            "a:",
        ] {
            assert!(!is_tensorflow(name), "{name}");
        }
    }
}
