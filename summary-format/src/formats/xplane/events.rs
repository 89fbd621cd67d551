//! Events with their statistics, and the links between them.

use std::collections::{HashMap, HashSet};

use super::Reader;
use super::plane::{Line, LineKind, Plane, device_work};
use crate::trace::{DeclaredStep, Flow, NONE, Slice, SliceClass, Trace};
use crate::wire::{Fields, Value, text};

const PICOS_A_NANO: i64 = 1_000;

/// An event of a line.
#[derive(Default)]
pub(super) struct Event<'a> {
    name: u64,
    offset_picos: i64,
    picos: i64,
    /// Number of events of which only the sum is known; they have no time.
    times: u64,
    stats: Vec<&'a [u8]>,
}

impl<'a> Event<'a> {
    /// `None` if the bytes are no event.
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
        let mut found = self.list.iter().filter(|(own, _)| *own == name.as_bytes());
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
