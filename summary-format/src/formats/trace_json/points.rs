//! Events without a length: instants, memory, counters, ends of flows and of asynchronous slices, names.

use super::columns::{Columns, Loss, cut};
use super::cursor::{Cursor, Value, nanos, number, signed, unescaped, unsigned};
use super::event::Event;
use super::flows::{FlowPoint, PointKind};
use crate::trace::{CounterSeries, LaneKind, Mark, MemoryEvent, NONE};

/// Maximum number of named processes, of named threads, and of series of numbers: that of lanes.
const MAX_NAMES: usize = 65_535;

/// The value of one argument.
fn argument<'a>(arguments: &'a [u8], wanted: &[u8]) -> Option<Value<'a>> {
    entries(arguments).find_map(|(key, value)| (key == wanted).then_some(value))
}

/// Keys and values of an object, up to the first that cannot be read.
pub(super) fn entries(object: &[u8]) -> impl Iterator<Item = (&[u8], Value<'_>)> {
    let mut cursor = Cursor::new(object, 0);
    let mut goes_on = cursor.expect(b'{').is_ok() && cursor.peek() != Ok(b'}');
    std::iter::from_fn(move || {
        if !goes_on {
            return None;
        }
        let (key, _) = cursor.key().ok()?;
        let value = cursor.value().ok()?;
        goes_on = cursor.goes_on().unwrap_or(false);
        Some((key, value))
    })
}

impl Columns {
    pub(super) fn instant(&mut self, event: &Event<'_>) -> Result<(), Loss> {
        let time = nanos(event.time).ok_or(Loss::Damage)?;
        let lane = self.lane_of(event)?;
        let is_global = event.scope == b"g";
        if !is_global && let Some(facts) = self.lane_facts.get_mut(usize::from(lane)) {
            facts.has_points = true;
        }
        let wanted = &event.wanted;
        if event.name == b"[memory]"
            && let Some(bytes) = signed(wanted.allocated_here)
        {
            let total = |text| u64::try_from(Self::integer(text)).unwrap_or(0);
            let small = |text| i32::try_from(Self::integer(text)).unwrap_or(0);
            let address = unsigned(wanted.address);
            self.trace.memory.push(MemoryEvent {
                time,
                bytes,
                // Older versions write addresses with a sign.
                address: address.unwrap_or_else(|| Self::integer(wanted.address).cast_unsigned()),
                allocated: total(wanted.total_allocated),
                reserved: total(wanted.total_reserved),
                device_type: small(wanted.device_type),
                device: small(wanted.device_id),
                lane,
                stack: NONE,
            });
            return Ok(());
        }
        let name = self.text(event.name)?;
        self.trace.marks.push(Mark {
            time,
            name,
            lane,
            is_global,
        });
        Ok(())
    }

    pub(super) fn counter(&mut self, event: &Event<'_>) -> Result<(), Loss> {
        let time = nanos(event.time).ok_or(Loss::Damage)?;
        for (key, value) in entries(event.arguments) {
            let value = match value {
                Value::Text(text) | Value::Token(text) => number(text),
                Value::Nested(_) => None,
            };
            let Some(value) = value else { continue };
            if self.values >= self.max_events {
                return Err(Loss::Limit);
            }
            self.values += 1;
            let series = self.series_of(event, key)?;
            if let Some(series) = self.trace.counters.get_mut(series as usize) {
                series.times.push(time);
                series.values.push(value);
            }
        }
        Ok(())
    }

    fn series_of(&mut self, event: &Event<'_>, key: &[u8]) -> Result<u32, Loss> {
        let id = &mut self.scratch;
        id.clear();
        for part in [event.process, event.name, event.id, key] {
            id.extend_from_slice(&part.len().to_le_bytes());
            id.extend_from_slice(part);
        }
        if let Some(series) = self.series.get(id.as_slice()) {
            return Ok(*series);
        }
        let id: Box<[u8]> = id.as_slice().into();
        if self.trace.counters.len() >= MAX_NAMES {
            return Err(Loss::Limit);
        }
        self.charge(2 * id.len())?;
        let index = u32::try_from(self.trace.counters.len()).map_err(|_| Loss::Limit)?;
        let mut name = cut(&unescaped(event.name)).to_owned();
        if !event.id.is_empty() {
            name = format!("{name}[{}]", cut(&unescaped(event.id)));
        }
        if !key.is_empty() && key != b"value" {
            name = format!("{name} {}", cut(&unescaped(key)));
        }
        self.trace.counters.push(CounterSeries {
            process: cut(&unescaped(event.process)).to_owned(),
            name,
            ..CounterSeries::default()
        });
        self.series.insert(id, index);
        Ok(index)
    }

    pub(super) fn flow(&mut self, event: &Event<'_>, kind: PointKind) -> Result<(), Loss> {
        let time = nanos(event.time).ok_or(Loss::Damage)?;
        let lane = self.lane_of(event)?;
        let category = self.text(event.category)?;
        let id = if event.id.is_empty() {
            event.bind_id
        } else {
            event.id
        };
        let (id, has_text_id) = self.flow_id(id)?;
        self.flow_points.push(FlowPoint {
            category,
            id,
            has_text_id,
            is_bound: false,
            is_to_next: kind == PointKind::Finish && event.binding != b"e",
            time,
            lane,
            kind,
            slice: self.slice_before(lane, time),
        });
        Ok(())
    }

    /// The slice directly before an end of a flow, if it begins at the same time on the same lane.
    fn slice_before(&self, lane: u16, time: i64) -> u32 {
        let slices = &self.trace.slices;
        match (slices.lanes.last(), slices.begins.last()) {
            (Some(last), Some(begin)) if *last == lane && *begin == time => {
                u32::try_from(slices.len() - 1).unwrap_or(NONE)
            }
            _ => NONE,
        }
    }

    /// Adds the flows of a slice that has them as fields.
    pub(super) fn bound_flow(&mut self, event: &Event<'_>, slice: u32) -> Result<(), Loss> {
        let is_true = |field: &[u8]| matches!(field, b"true" | b"1");
        let kind = match (is_true(event.flow_in), is_true(event.flow_out)) {
            (true, true) => PointKind::Step,
            (true, false) => PointKind::Finish,
            (false, true) => PointKind::Begin,
            (false, false) => return Ok(()),
        };
        let category = self.text(event.category)?;
        let (id, has_text_id) = self.flow_id(event.bind_id)?;
        let index = slice as usize;
        let slices = &self.trace.slices;
        if let (Some(time), Some(lane)) = (slices.begins.get(index), slices.lanes.get(index)) {
            self.flow_points.push(FlowPoint {
                category,
                id,
                has_text_id,
                is_bound: true,
                is_to_next: false,
                time: *time,
                lane: *lane,
                kind,
                slice,
            });
        }
        Ok(())
    }

    /// The identifier of a flow, as a number or as the number of a text.
    fn flow_id(&mut self, raw: &[u8]) -> Result<(u64, bool), Loss> {
        // `07` is another text than `7`.
        if (raw.len() == 1 || raw.first() != Some(&b'0'))
            && let Some(id) = unsigned(raw)
        {
            return Ok((id, false));
        }
        let text = unescaped(raw);
        let text = cut(&text);
        if self.flow_ids.find(text).is_none() {
            self.charge(text.len())?;
        }
        Ok((self.flow_ids.intern(text).0.into(), true))
    }

    pub(super) fn begin_async(&mut self, event: &Event<'_>, place: u64) -> Result<(), Loss> {
        let begin = nanos(event.time).ok_or(Loss::Damage)?;
        let key = Self::async_key(event);
        let slice = self
            .async_lane(event)
            .and_then(|lane| self.slice_on(lane, begin, event, place));
        let slice = slice?;
        self.charge(key.len())?;
        self.open_async.entry(key.into()).or_default().push(slice);
        Ok(())
    }

    pub(super) fn end_async(&mut self, event: &Event<'_>) -> Result<(), Loss> {
        let end = nanos(event.time).ok_or(Loss::Damage)?;
        let key = Self::async_key(event);
        let mut slice = None;
        if let Some(open) = self.open_async.get_mut(key.as_slice()) {
            slice = open.pop();
            if open.is_empty() {
                self.open_async.remove(key.as_slice());
            }
        }
        if slice.is_some() {
            self.refund(key.len());
        }
        self.close(slice, end);
        Ok(())
    }

    pub(super) fn async_instant(&mut self, event: &Event<'_>) -> Result<(), Loss> {
        let time = nanos(event.time).ok_or(Loss::Damage)?;
        let lane = self.async_lane(event)?;
        let name = self.text(event.name)?;
        self.trace.marks.push(Mark {
            time,
            name,
            lane,
            is_global: false,
        });
        Ok(())
    }

    fn async_lane(&mut self, event: &Event<'_>) -> Result<u16, Loss> {
        let thread = if event.category.is_empty() {
            b"async"
        } else {
            event.category
        };
        self.lane(LaneKind::Async, event.process, thread, b"")
    }

    /// Category and identifier; local identifiers count in their process alone.
    fn async_key(event: &Event<'_>) -> Vec<u8> {
        let local = argument(event.second_id, b"local").map(Value::raw);
        let global = argument(event.second_id, b"global").map(Value::raw);
        let process = if local.is_some() { event.process } else { b"" };
        let id = local.or(global).unwrap_or(event.id);
        let mut key = Vec::new();
        for part in [event.category, process, id] {
            key.extend_from_slice(&part.len().to_le_bytes());
            key.extend_from_slice(part);
        }
        key
    }

    pub(super) fn metadata(&mut self, event: &Event<'_>) -> Result<(), Loss> {
        let wanted: &[u8] = match event.name {
            b"process_name" | b"thread_name" => b"name",
            b"process_labels" => b"labels",
            b"process_sort_index" | b"thread_sort_index" => b"sort_index",
            _ => return Ok(()),
        };
        let Some(value) = argument(event.arguments, wanted) else {
            return Ok(());
        };
        let process = cut(&unescaped(event.process)).to_owned();
        let thread = cut(&unescaped(event.thread)).to_owned();
        let text = value.text();
        let text = cut(&text);
        let is_thread = event.name.starts_with(b"thread");
        let is_new = if is_thread {
            let key = (process.clone(), thread.clone());
            !self.names.threads.contains_key(&key)
        } else {
            !self.names.processes.contains_key(&process)
        };
        if is_new {
            let count = if is_thread {
                self.names.threads.len()
            } else {
                self.names.processes.len()
            };
            if count >= MAX_NAMES {
                return Err(Loss::Limit);
            }
            self.charge(process.len() + thread.len())?;
        }
        let named = if is_thread {
            self.names.threads.entry((process, thread)).or_default()
        } else {
            self.names.processes.entry(process).or_default()
        };
        let field = match wanted {
            b"sort_index" => {
                named.sort = signed(value.raw()).unwrap_or(named.sort);
                return Ok(());
            }
            b"labels" => &mut named.label,
            _ => &mut named.name,
        };
        if field != text {
            let text = text.to_owned();
            let longer = text.len().saturating_sub(field.len());
            *field = text;
            // Beyond the limit, the name stays, and the event counts as over the limit.
            self.charge(longer)?;
        }
        Ok(())
    }
}
