//! Chrome JSON of a stretch of a trace, for Perfetto and other viewers.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use trainscope_format::trace::{Device, DeviceWork, NONE, SliceClass, TraceFormat};

use super::Model;
use super::clip::clips;
use super::levels::Levels;
use super::ranges::Span;

/// Writes the slices, arrows, counters, instants and memory events of the time between two times since the origin.
/// Slices that touch it are whole: every duration is that of the trace. Times count from the origin if the file can
/// name the time of the origin. Readers that take times as floating-point numbers are exact then.
pub fn write(
    model: &Model,
    levels: &Levels,
    (from, to): (i64, i64),
    out: &mut impl Write,
) -> io::Result<()> {
    let origin = model.origin();
    let area = (origin.saturating_add(from), origin.saturating_add(to));
    let zero = head(model, out)?;
    let mut events = Events {
        model,
        out,
        zero,
        is_first: true,
    };
    let lanes = (0..).zip(&model.lanes).map(|(lane, _)| lane);
    let mut shown = Vec::new();
    for lane in lanes {
        let first = shown.len();
        clips(model, levels, lane, area, |clip| shown.push(clip.slice));
        if shown.len() > first {
            events.lane_names(lane as usize)?;
        }
    }
    let flows = events.flows(&shown);
    let mut ends = flows.iter().peekable();
    for slice in shown {
        events.slice(slice)?;
        // An end of an arrow binds to the slice that it follows.
        while let Some((_, flow, is_from)) = ends.next_if(|(end, ..)| *end == slice) {
            events.flow(slice, *flow, *is_from)?;
        }
    }
    events.counters(area)?;
    events.memory(area)?;
    events.marks(area)?;
    write!(out, "\n]}}\n")
}

/// Writes everything before the events, and returns the time of the file's clock that is written as 0.
fn head(model: &Model, out: &mut impl Write) -> io::Result<i128> {
    let (head, origin) = (&model.trace.head, model.origin());
    let mut zero = i128::from(origin);
    let mut members: Vec<Member<'_>> = vec![("displayTimeUnit", "ms".into())];
    members.extend(head.host.as_deref().map(|host| ("host_name", host.into())));
    if head.format == TraceFormat::Kineto {
        members.push(("schemaVersion", number(&1)));
        if let Some(offset) = head.unix_offset_nanos {
            let base = offset.saturating_add(origin);
            members.push(("baseTimeNanoseconds", number(&base)));
        }
        if let (Some(rank), Some(ranks)) = (head.rank, head.world_size) {
            let group = vec![("rank", number(&rank)), ("world_size", number(&ranks))];
            members.push(("distributedInfo", Value::Object(group)));
        }
        let devices = head.devices.iter().map(device).collect();
        members.push(("deviceProperties", Value::List(devices)));
    } else if let Some(offset) = head.unix_offset_nanos {
        // Only files of Kineto have a key for the clock; in others times count from 1970.
        zero = -i128::from(offset);
    }
    let members = serde_json::to_string(&Value::Object(members))?;
    let open = members.strip_suffix('}').unwrap_or(&members);
    writeln!(out, "{open},\"traceEvents\":[")?;
    Ok(zero)
}

fn device(device: &Device) -> Value<'_> {
    Value::Object(vec![
        ("id", number(&device.id)),
        ("name", (&*device.name).into()),
        ("totalGlobalMem", number(&device.memory_len)),
        ("computeMajor", number(&device.compute_major)),
        ("numSms", number(&device.multiprocessors)),
    ])
}

/// A value of JSON whose members keep their order, and whose numbers are written as their digits.
enum Value<'text> {
    Text(&'text str),
    Number(Box<RawValue>),
    List(Vec<Self>),
    Object(Vec<Member<'text>>),
}

type Member<'text> = (&'static str, Value<'text>);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => number.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

impl<'text> From<&'text str> for Value<'text> {
    fn from(text: &'text str) -> Self {
        Self::Text(text)
    }
}

/// A number that JSON has.
fn number(number: &impl ToString) -> Value<'static> {
    Value::Number(RawValue::from_string(number.to_string()).unwrap_or_default())
}

/// Nanoseconds as decimal microseconds.
fn micros(nanos: i128) -> Value<'static> {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    number(&format!("{sign}{}.{:03}", nanos / 1_000, nanos % 1_000))
}

/// Text of a process or thread: a number if it is one, for viewers that want numbers.
fn id(text: &str) -> Value<'_> {
    match text.parse::<i32>() {
        Ok(id) if id.to_string() == text => number(&id),
        _ => text.into(),
    }
}

/// Events of the array, with commas between them.
struct Events<'model, 'out, W: Write> {
    model: &'model Model,
    out: &'out mut W,
    /// Time of the file's clock that is written as 0.
    zero: i128,
    is_first: bool,
}

impl<'model, W: Write> Events<'model, '_, W> {
    fn put(&mut self, event: Vec<Member<'_>>) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_all(b",\n")?;
        }
        Ok(serde_json::to_writer(
            &mut *self.out,
            &Value::Object(event),
        )?)
    }

    /// Writes an event of a lane.
    fn put_at(
        &mut self,
        lane: usize,
        mut event: Vec<Member<'model>>,
        rest: impl IntoIterator<Item = Member<'model>>,
    ) -> io::Result<()> {
        if let Some(lane) = self.model.trace.lanes.get(lane) {
            event.extend([("pid", id(&lane.process)), ("tid", id(&lane.thread))]);
        }
        event.extend(rest);
        self.put(event)
    }

    fn since(&self, time: i64) -> Value<'static> {
        micros(i128::from(time) - self.zero)
    }

    fn lane_names(&mut self, index: usize) -> io::Result<()> {
        let Some(lane) = self.model.trace.lanes.get(index) else {
            return Ok(());
        };
        let names = [
            ("process_name", &*lane.process_name),
            ("thread_name", &*lane.thread_name),
        ];
        let names = names.into_iter().filter(|(_, name)| !name.is_empty());
        let names = names.map(|(event, name)| (event, ("name", name.into())));
        let sorts = [
            ("process_sort_index", lane.process_sort),
            ("thread_sort_index", lane.thread_sort),
        ];
        let sorts = sorts.map(|(event, sort)| (event, ("sort_index", number(&sort))));
        for (name, argument) in names.chain(sorts) {
            let event = vec![("ph", "M".into()), ("name", name.into())];
            self.put_at(index, event, [("args", Value::Object(vec![argument]))])?;
        }
        Ok(())
    }

    fn slice(&mut self, slice: u32) -> io::Result<()> {
        let trace = &self.model.trace;
        let (slices, index) = (&trace.slices, slice as usize);
        let category = trace.categories.get(usize::from(slices.categories[index]));
        let category = category.map_or("", |category| &category.name);
        let event = vec![
            ("ph", "X".into()),
            ("cat", category.into()),
            ("name", self.model.name(slice).into()),
        ];
        let mut arguments = Vec::new();
        let class = self.model.class(slice);
        if slices.links[index] != NONE {
            let name = match class {
                SliceClass::Operator => "Sequence number",
                _ => "correlation",
            };
            arguments.push((name, number(&slices.links[index])));
        }
        let is_device_work = matches!(
            class,
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
        );
        let work = trace.device_work.get(slices.details[index] as usize);
        if let Some(work) = work.filter(|_| is_device_work) {
            self.device_work(work, &mut arguments);
        }
        let mut rest = vec![
            ("ts", self.since(slices.begins[index])),
            ("dur", micros(i128::from(slices.durations[index]))),
        ];
        if !arguments.is_empty() {
            rest.push(("args", Value::Object(arguments)));
        }
        self.put_at(usize::from(slices.lanes[index]), event, rest)
    }

    fn device_work(&self, work: &DeviceWork, arguments: &mut Vec<Member<'model>>) {
        arguments.push(("device", number(&work.device)));
        if work.bytes > 0 {
            arguments.push(("bytes", number(&work.bytes)));
        }
        let known = |number: f32| number.is_finite() && number >= 0.0;
        if known(work.blocks_per_multiprocessor) {
            arguments.push(("blocks per SM", number(&work.blocks_per_multiprocessor)));
        }
        if known(work.occupancy_percent) {
            let occupancy = number(&work.occupancy_percent);
            arguments.push(("est. achieved occupancy %", occupancy));
        }
        if work.sequence != NONE {
            arguments.push(("Seq", number(&work.sequence)));
        }
        if let Some(group) = work.group {
            let name = self.model.trace.texts.get(group);
            arguments.push(("Process Group Name", name.into()));
        }
        if work.group_size > 0 {
            arguments.push(("Group size", number(&work.group_size)));
        }
    }

    /// Ends of the arrows whose both slices are in a list, in its order: slice, arrow, `true` for the end that leaves.
    fn flows(&self, shown: &[u32]) -> Vec<(u32, usize, bool)> {
        // Slices come lane by lane, in each in order: the list is sorted.
        let is_shown = |slice: u32| shown.binary_search(&slice).is_ok();
        let mut ends = Vec::new();
        for (number, flow) in self.model.trace.flows.iter().enumerate() {
            if is_shown(flow.from) && is_shown(flow.to) {
                ends.push((flow.from, number, true));
                ends.push((flow.to, number, false));
            }
        }
        ends.sort_unstable();
        ends
    }

    fn flow(&mut self, slice: u32, arrow: usize, is_from: bool) -> io::Result<()> {
        let Some(flow) = self.model.trace.flows.get(arrow) else {
            return Ok(());
        };
        let (slices, index) = (&self.model.trace.slices, slice as usize);
        let name = self.model.trace.texts.get(flow.category);
        let mut event = if is_from {
            vec![("ph", "s".into())]
        } else {
            vec![("ph", "f".into()), ("bp", "e".into())]
        };
        event.extend([
            ("id", number(&arrow)),
            ("cat", name.into()),
            ("name", name.into()),
        ]);
        let time = self.since(slices.begins[index]);
        self.put_at(usize::from(slices.lanes[index]), event, [("ts", time)])
    }

    fn counters(&mut self, (from, to): Span) -> io::Result<()> {
        for counter in &self.model.trace.counters {
            for (time, value) in counter.times.iter().zip(&counter.values) {
                if (from..to).contains(time) {
                    let text = value.to_string();
                    let value = if value.is_finite() {
                        number(&text)
                    } else {
                        Value::Text(&text)
                    };
                    self.put(vec![
                        ("ph", "C".into()),
                        ("name", (&*counter.name).into()),
                        ("pid", id(&counter.process)),
                        ("ts", self.since(*time)),
                        ("args", Value::Object(vec![("value", value)])),
                    ])?;
                }
            }
        }
        Ok(())
    }

    fn memory(&mut self, (from, to): Span) -> io::Result<()> {
        let events = self.model.trace.memory.iter();
        for event in events.filter(|event| (from..to).contains(&event.time)) {
            let time = self.since(event.time);
            let arguments = vec![
                ("Addr", number(&event.address)),
                ("Bytes", number(&event.bytes)),
                ("Device Id", number(&event.device)),
                ("Device Type", number(&event.device_type)),
                ("Total Allocated", number(&event.allocated)),
                ("Total Reserved", number(&event.reserved)),
            ];
            let members = vec![
                ("ph", "i".into()),
                ("s", "t".into()),
                ("cat", "cpu_instant_event".into()),
                ("name", "[memory]".into()),
            ];
            let rest = [("ts", time), ("args", Value::Object(arguments))];
            self.put_at(usize::from(event.lane), members, rest)?;
        }
        Ok(())
    }

    fn marks(&mut self, (from, to): Span) -> io::Result<()> {
        let marks = self.model.trace.marks.iter();
        for mark in marks.filter(|mark| (from..to).contains(&mark.time)) {
            let time = self.since(mark.time);
            let event = vec![
                ("ph", "i".into()),
                ("s", Value::Text(if mark.is_global { "g" } else { "t" })),
                ("name", self.model.trace.texts.get(mark.name).into()),
            ];
            self.put_at(usize::from(mark.lane), event, [("ts", time)])?;
        }
        Ok(())
    }
}
