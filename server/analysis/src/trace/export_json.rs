//! Chrome JSON of a stretch of a trace, for Perfetto and other viewers.

use std::collections::BTreeMap;
use std::io::{self, Write};

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
    write!(out, "{{\"displayTimeUnit\":\"ms\"")?;
    if let Some(host) = &head.host {
        write!(out, ",\"host_name\":{}", Text(host))?;
    }
    if head.format == TraceFormat::Kineto {
        write!(out, ",\"schemaVersion\":1")?;
        if let Some(offset) = head.unix_offset_nanos {
            let base = offset.saturating_add(origin);
            write!(out, ",\"baseTimeNanoseconds\":{base}")?;
        }
        if let (Some(rank), Some(ranks)) = (head.rank, head.world_size) {
            write!(
                out,
                ",\"distributedInfo\":{{\"rank\":{rank},\"world_size\":{ranks}}}"
            )?;
        }
        let devices: Vec<String> = head.devices.iter().map(device).collect();
        write!(out, ",\"deviceProperties\":[{}]", devices.join(","))?;
    } else if let Some(offset) = head.unix_offset_nanos {
        // Only files of Kineto have a key for the clock; in others times count from 1970.
        zero = -i128::from(offset);
    }
    writeln!(out, ",\"traceEvents\":[")?;
    Ok(zero)
}

fn device(device: &Device) -> String {
    format!(
        "{{\"id\":{},\"name\":{},\"totalGlobalMem\":{},\"computeMajor\":{},\"numSms\":{}}}",
        device.id,
        Text(&device.name),
        device.memory_len,
        device.compute_major,
        device.multiprocessors
    )
}

/// Text as a string of JSON.
struct Text<'text>(&'text str);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                letter if letter.is_control() && letter.is_ascii() => {
                    write!(f, "\\u{:04x}", u32::from(letter))?;
                }
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}

/// Text of a process or thread: written as a number if it is one, for viewers that want numbers.
struct Id<'text>(&'text str);

impl std::fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.parse::<i32>() {
            Ok(number) if number.to_string() == self.0 => write!(f, "{number}"),
            _ => Text(self.0).fmt(f),
        }
    }
}

/// Nanoseconds as decimal microseconds.
struct Micros(i128);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:03}", nanos / 1_000, nanos % 1_000)
    }
}

/// A number of JSON; NaN and infinities, which it does not have, as strings.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_finite() {
            write!(f, "{}", self.0)
        } else {
            write!(f, "\"{}\"", self.0)
        }
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

impl<W: Write> Events<'_, '_, W> {
    fn next(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_all(b",\n")?;
        }
        Ok(())
    }

    fn since(&self, time: i64) -> Micros {
        Micros(i128::from(time) - self.zero)
    }

    /// Process and thread of a lane as members of an event.
    fn place(&self, lane: usize) -> String {
        let lane = self.model.trace.lanes.get(lane);
        lane.map_or_else(String::new, |lane| {
            format!(
                ",\"pid\":{},\"tid\":{}",
                Id(&lane.process),
                Id(&lane.thread)
            )
        })
    }

    fn lane_names(&mut self, index: usize) -> io::Result<()> {
        let Some(lane) = self.model.trace.lanes.get(index) else {
            return Ok(());
        };
        let place = self.place(index);
        let names = [
            ("process_name", &lane.process_name),
            ("thread_name", &lane.thread_name),
        ];
        for (event, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            self.next()?;
            let name = Text(name);
            write!(
                self.out,
                "{{\"ph\":\"M\",\"name\":\"{event}\"{place},\"args\":{{\"name\":{name}}}}}"
            )?;
        }
        let sorts = [
            ("process_sort_index", lane.process_sort),
            ("thread_sort_index", lane.thread_sort),
        ];
        for (event, sort) in sorts {
            self.next()?;
            write!(
                self.out,
                "{{\"ph\":\"M\",\"name\":\"{event}\"{place},\"args\":{{\"sort_index\":{sort}}}}}"
            )?;
        }
        Ok(())
    }

    fn slice(&mut self, slice: u32) -> io::Result<()> {
        self.next()?;
        let slices = &self.model.trace.slices;
        let index = slice as usize;
        let category = self
            .model
            .trace
            .categories
            .get(usize::from(slices.categories[index]));
        let category = category.map_or("", |category| &category.name);
        let name = Text(self.model.name(slice));
        write!(
            self.out,
            "{{\"ph\":\"X\",\"cat\":{},\"name\":{name}",
            Text(category)
        )?;
        let place = self.place(usize::from(slices.lanes[index]));
        let begin = self.since(slices.begins[index]);
        let duration = Micros(i128::from(slices.durations[index]));
        write!(self.out, "{place},\"ts\":{begin},\"dur\":{duration}")?;
        let mut arguments: Vec<(&str, String)> = Vec::new();
        if slices.links[index] != NONE {
            let name = match self.model.class(slice) {
                SliceClass::Operator => "Sequence number",
                _ => "correlation",
            };
            arguments.push((name, slices.links[index].to_string()));
        }
        let is_device_work = matches!(
            self.model.class(slice),
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
        );
        let work = self
            .model
            .trace
            .device_work
            .get(slices.details[index] as usize);
        if let Some(work) = work.filter(|_| is_device_work) {
            self.device_work(work, &mut arguments);
        }
        if !arguments.is_empty() {
            write!(self.out, ",\"args\":{{")?;
            for (place, (name, value)) in arguments.iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                write!(self.out, "{comma}\"{name}\":{value}")?;
            }
            write!(self.out, "}}")?;
        }
        write!(self.out, "}}")
    }

    fn device_work(&self, work: &DeviceWork, arguments: &mut Vec<(&'static str, String)>) {
        arguments.push(("device", work.device.to_string()));
        if work.bytes > 0 {
            arguments.push(("bytes", work.bytes.to_string()));
        }
        let known = |number: f32| number.is_finite() && number >= 0.0;
        if known(work.blocks_per_multiprocessor) {
            arguments.push(("blocks per SM", work.blocks_per_multiprocessor.to_string()));
        }
        if known(work.occupancy_percent) {
            arguments.push((
                "est. achieved occupancy %",
                work.occupancy_percent.to_string(),
            ));
        }
        if work.sequence != NONE {
            arguments.push(("Seq", work.sequence.to_string()));
        }
        if let Some(group) = work.group {
            let name = Text(self.model.trace.texts.get(group)).to_string();
            arguments.push(("Process Group Name", name));
        }
        if work.group_size > 0 {
            arguments.push(("Group size", work.group_size.to_string()));
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

    fn flow(&mut self, slice: u32, number: usize, is_from: bool) -> io::Result<()> {
        let Some(flow) = self.model.trace.flows.get(number) else {
            return Ok(());
        };
        self.next()?;
        let slices = &self.model.trace.slices;
        let phase = if is_from {
            "\"s\""
        } else {
            "\"f\",\"bp\":\"e\""
        };
        let name = Text(self.model.trace.texts.get(flow.category));
        let time = self.since(slices.begins[slice as usize]);
        let place = self.place(usize::from(slices.lanes[slice as usize]));
        write!(
            self.out,
            "{{\"ph\":{phase},\"id\":{number},\"cat\":{name},\"name\":{name}{place},\"ts\":{time}}}"
        )
    }

    fn counters(&mut self, (from, to): Span) -> io::Result<()> {
        let model = self.model;
        for counter in &model.trace.counters {
            let (process, name) = (Id(&counter.process), Text(&counter.name));
            for (time, value) in counter.times.iter().zip(&counter.values) {
                if (from..to).contains(time) {
                    self.next()?;
                    let (time, value) = (self.since(*time), Number(*value));
                    write!(
                        self.out,
                        "{{\"ph\":\"C\",\"name\":{name},\"pid\":{process},\"ts\":{time},\"args\":{{\"value\":{value}}}}}"
                    )?;
                }
            }
        }
        Ok(())
    }

    fn memory(&mut self, (from, to): Span) -> io::Result<()> {
        let model = self.model;
        let events = model.trace.memory.iter();
        for event in events.filter(|event| (from..to).contains(&event.time)) {
            self.next()?;
            let place = self.place(usize::from(event.lane));
            let time = self.since(event.time);
            let arguments = BTreeMap::from([
                ("Total Reserved", i128::from(event.reserved)),
                ("Total Allocated", i128::from(event.allocated)),
                ("Bytes", i128::from(event.bytes)),
                ("Addr", i128::from(event.address)),
                ("Device Id", i128::from(event.device)),
                ("Device Type", i128::from(event.device_type)),
            ]);
            let arguments: Vec<String> = arguments
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"))
                .collect();
            let arguments = arguments.join(",");
            write!(
                self.out,
                "{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"{place},\"ts\":{time},\"args\":{{{arguments}}}}}"
            )?;
        }
        Ok(())
    }

    fn marks(&mut self, (from, to): Span) -> io::Result<()> {
        let model = self.model;
        let marks = model.trace.marks.iter();
        for mark in marks.filter(|mark| (from..to).contains(&mark.time)) {
            self.next()?;
            let scope = if mark.is_global { "g" } else { "t" };
            let place = self.place(usize::from(mark.lane));
            let (time, name) = (
                self.since(mark.time),
                Text(model.trace.texts.get(mark.name)),
            );
            write!(
                self.out,
                "{{\"ph\":\"i\",\"s\":\"{scope}\",\"name\":{name}{place},\"ts\":{time}}}"
            )?;
        }
        Ok(())
    }
}
