//! The tables of a profile: slices, steps, lanes, flows, counters and memory of one or more ranks.

use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::slice::phase_name;
use trainscope_api::profile::{PhaseKind, SqlColumn, TABLES};
use trainscope_api::timeline::TimeKind;
use trainscope_format::trace::{DeviceWork, LaneKind, NONE, Shapes, SliceClass, TextId, Trace};

use crate::table::{self, Cell, Keys, Rows};

/// The profile of a rank.
#[derive(Clone)]
pub struct ProfilePart {
    /// Its rank.
    pub rank: u32,
    /// Its model, shared with its other owners.
    pub model: Arc<dyn AsRef<Model> + Send + Sync>,
}

/// Adds all tables to a connection.
pub(crate) fn add(connection: &Connection, parts: Vec<ProfilePart>) -> rusqlite::Result<()> {
    let parts: Arc<[ProfilePart]> = parts.into();
    for (at, info) in TABLES.iter().enumerate() {
        let lengths = parts.iter().map(|part| length(at, model(part)));
        let mut ends = Vec::with_capacity(parts.len());
        let mut end = 0_u32;
        for length in lengths {
            end = end.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
            ends.push(end);
        }
        let rows = PartRows {
            table: at,
            parts: Arc::clone(&parts),
            ends,
            names: OnceLock::new(),
            series_ends: OnceLock::new(),
        };
        table::add(connection, info.name, Arc::new(rows))?;
    }
    Ok(())
}

fn model(part: &ProfilePart) -> &Model {
    (*part.model).as_ref()
}

/// Rows of a table in one profile.
fn length(table: usize, model: &Model) -> usize {
    match table {
        0 => model.trace.slices.len(),
        1 => model.steps.list.len(),
        2 => model.trace.lanes.len(),
        3 => model.trace.flows.len(),
        4 => model
            .trace
            .counters
            .iter()
            .map(|series| series.values.len())
            .sum(),
        _ => model.trace.memory.len(),
    }
}

/// The rows of a table, those of each profile after those of the previous one.
struct PartRows {
    /// Position in `TABLES`.
    table: usize,
    parts: Arc<[ProfilePart]>,
    /// Number of rows up to the end of each profile.
    ends: Vec<u32>,
    names: OnceLock<TextOrder>,
    /// Number of values up to the end of each series of each profile.
    series_ends: OnceLock<Vec<Vec<usize>>>,
}

/// Texts of several profiles in one order.
struct TextOrder {
    /// Each text once, in the order of `SQLite`: by bytes.
    texts: Vec<Arc<str>>,
    /// Position of each text of each profile.
    places: Vec<Vec<u32>>,
}

impl PartRows {
    /// The profile of a row, and its row there.
    fn part(&self, row: u32) -> Option<(&ProfilePart, u32)> {
        if let [part] = &*self.parts {
            return Some((part, row));
        }
        let at = self.ends.partition_point(|end| *end <= row);
        let before = at.checked_sub(1).map_or(0, |at| self.ends[at]);
        Some((self.parts.get(at)?, row - before))
    }

    fn ranked(&self) -> &TextOrder {
        self.names.get_or_init(|| {
            let all = self.parts.iter();
            let all = all.map(|part| model(part).trace.texts.iter().map(Arc::from).collect());
            let all: Vec<Vec<Arc<str>>> = all.collect();
            let mut texts: Vec<Arc<str>> = all.iter().flatten().cloned().collect();
            texts.sort_unstable();
            texts.dedup();
            let place = |text: &Arc<str>| {
                u32::try_from(texts.partition_point(|other| other < text)).unwrap_or(u32::MAX)
            };
            let places = all
                .iter()
                .map(|of_part| of_part.iter().map(place).collect());
            let places = places.collect();
            TextOrder { texts, places }
        })
    }
}

impl Rows for PartRows {
    fn columns(&self) -> &'static [SqlColumn] {
        TABLES[self.table].columns
    }

    fn len(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn cell(&self, row: u32, column: usize) -> Cell<'_> {
        let Some((part, row)) = self.part(row) else {
            return Cell::Null;
        };
        if column == 1 {
            return Cell::Int(i64::from(part.rank));
        }
        let model = model(part);
        let cell = match self.table {
            0 => slice_cell(model, row, column),
            1 => step_cell(model, row, column),
            2 => lane_cell(model, row, column),
            3 => flow_cell(model, row, column),
            4 => self.counter_cell(model, row, column),
            _ => memory_cell(model, row, column),
        };
        cell.unwrap_or(Cell::Null)
    }

    fn has_keys(&self, column: usize) -> bool {
        column == 1 || (self.table == 0 && (2..=7).contains(&column))
    }

    fn keys(&self, column: usize) -> Option<Keys<'_>> {
        if !self.has_keys(column) {
            return None;
        }
        if column != 3 {
            return Some(self.few(column));
        }
        let ranked = self.ranked();
        let mut of_rows = Vec::with_capacity(self.len() as usize);
        for (part, places) in self.parts.iter().zip(&ranked.places) {
            let place = |id: &TextId| places.get(id.0 as usize).copied().unwrap_or(0);
            of_rows.extend(model(part).trace.slices.names.iter().map(place));
        }
        Some(Keys {
            values: ranked.texts.iter().map(|text| Cell::Text(text)).collect(),
            of_rows,
        })
    }

    fn find(&self, id: i64) -> Option<Vec<u32>> {
        if self.table != 0 {
            return None;
        }
        let Ok(number) = u32::try_from(id) else {
            return Some(Vec::new());
        };
        let mut before = 0;
        let mut found = Vec::new();
        for (part, end) in self.parts.iter().zip(&self.ends) {
            found.extend(model(part).numbered(number).map(|slice| before + slice));
            before = *end;
        }
        Some(found)
    }
}

impl PartRows {
    fn counter_cell<'a>(&'a self, model: &'a Model, row: u32, column: usize) -> Option<Cell<'a>> {
        let part = self
            .parts
            .iter()
            .position(|part| std::ptr::eq(self::model(part), model))?;
        let ends = self.series_ends.get_or_init(|| {
            let of = |part: &ProfilePart| {
                let mut end = 0;
                let lengths = self::model(part)
                    .trace
                    .counters
                    .iter()
                    .map(|counter| counter.values.len());
                lengths
                    .map(|length| {
                        end += length;
                        end
                    })
                    .collect()
            };
            self.parts.iter().map(of).collect()
        });
        let ends: &Vec<usize> = ends.get(part)?;
        let place = ends.partition_point(|end| *end <= row as usize);
        let series = model.trace.counters.get(place)?;
        let before = place.checked_sub(1).map_or(0, |place| ends[place]);
        let at = row as usize - before;
        let value = *series.values.get(at)?;
        Some(match column {
            0 => Cell::Text(&series.name),
            2 => Cell::Text(&series.process),
            3 => int(series.times.get(at)?.saturating_sub(model.origin())),
            4 if value.is_nan() => return None,
            4 => Cell::Real(value),
            5 => int(u8::from(value.is_nan())),
            _ => return None,
        })
    }

    /// Keys of a column by its cells: numbers of one byte or two for each row are made once for a statement.
    fn few(&self, column: usize) -> Keys<'_> {
        let mut values: Vec<Cell<'_>> = Vec::new();
        let mut keys = Vec::with_capacity(self.len() as usize);
        for row in 0..self.len() {
            let cell = self.cell(row, column);
            // Neighbours are alike.
            let known = keys
                .last()
                .filter(|last: &&u32| values[**last as usize] == cell);
            let key = known.copied().unwrap_or_else(|| {
                let place = values.iter().position(|value| *value == cell);
                let place = place.unwrap_or_else(|| {
                    values.push(cell);
                    values.len() - 1
                });
                u32::try_from(place).unwrap_or(u32::MAX)
            });
            keys.push(key);
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| compare(&values[*a], &values[*b]));
        let mut places = vec![0_u32; values.len()];
        for (place, value) in (0..).zip(&order) {
            places[*value] = place;
        }
        for key in &mut keys {
            *key = places[*key as usize];
        }
        Keys {
            values: order.into_iter().map(|value| values[value]).collect(),
            of_rows: keys,
        }
    }
}

/// The order of `SQLite`: NULL, numbers, texts by bytes.
fn compare(a: &Cell<'_>, b: &Cell<'_>) -> std::cmp::Ordering {
    let class = |cell: &Cell<'_>| match cell {
        Cell::Null => 0,
        Cell::Int(_) | Cell::Real(_) => 1,
        Cell::Text(_) => 2,
    };
    match (a, b) {
        (Cell::Int(a), Cell::Int(b)) => a.cmp(b),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (a, b) => class(a).cmp(&class(b)),
    }
}

fn int(value: impl TryInto<i64>) -> Cell<'static> {
    Cell::Int(value.try_into().unwrap_or(i64::MAX))
}

fn slice_cell(model: &Model, row: u32, column: usize) -> Option<Cell<'_>> {
    let slices = &model.trace.slices;
    let at = row as usize;
    let id = |slice: u32| {
        Some(slice)
            .filter(|slice| *slice != NONE)
            .map(|slice| int(model.number(slice)))
    };
    Some(match column {
        0 => int(model.number(row)),
        2 => int(model.step_at(*slices.begins.get(at)?)?.number),
        3 => Cell::Text(model.name(row)),
        4 => Cell::Text(
            &model
                .trace
                .categories
                .get(usize::from(*slices.categories.get(at)?))?
                .name,
        ),
        5 => Cell::Text(kind_name(*model.kinds.get(at)?)),
        6 => match *model.phases.get(at)? {
            PhaseKind::Host => return None,
            phase => Cell::Text(phase_name(phase)),
        },
        7 => int(*slices.lanes.get(at)?),
        8 => int(slices.begins.get(at)?.saturating_sub(model.origin())),
        9 => int(*slices.durations.get(at)?),
        10 => {
            slices.begins.get(at)?;
            int(slices.end(at).saturating_sub(model.origin()))
        }
        11 => int(*model.rows.get(at)?),
        12 => id(*model.parents.get(at)?)?,
        13 => id(*model.launches.get(at)?)?,
        14 => int(device_work(&model.trace, model.class(row), at)?.device),
        15 => match device_work(&model.trace, model.class(row), at)?.bytes {
            0 => return None,
            bytes => int(bytes),
        },
        16 => Cell::Text(&shapes(&model.trace, model.class(row), at)?.dims),
        17 => match shapes(&model.trace, model.class(row), at)?.flops {
            0 => return None,
            flops => int(flops),
        },
        _ => return None,
    })
}

fn device_work(trace: &Trace, class: SliceClass, at: usize) -> Option<&DeviceWork> {
    let is_device = matches!(
        class,
        SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
    );
    let detail = trace.slices.details.get(at).filter(|_| is_device)?;
    trace.device_work.get(*detail as usize)
}

fn shapes(trace: &Trace, class: SliceClass, at: usize) -> Option<&Shapes> {
    let detail = trace.slices.details.get(at);
    let detail = detail.filter(|_| class == SliceClass::Operator)?;
    trace.shapes.get(*detail as usize)
}

fn kind_name(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Compute => "compute",
        TimeKind::Communication => "communication",
        TimeKind::Copy => "copy",
        TimeKind::Data => "data",
        TimeKind::Host => "host",
        TimeKind::Idle => "idle",
    }
}

fn step_cell(model: &Model, row: u32, column: usize) -> Option<Cell<'static>> {
    let step = model.steps.list.get(row as usize)?;
    Some(match column {
        0 => int(step.number),
        2 => int(step.begin.saturating_sub(model.origin())),
        3 => int(step.end.saturating_sub(step.begin)),
        4 => int(step.end.saturating_sub(model.origin())),
        5 => int(step.host_end.saturating_sub(model.origin())),
        6 => int(step.launched),
        7 => int(u8::from(step.is_whole)),
        _ => return None,
    })
}

fn lane_cell(model: &Model, row: u32, column: usize) -> Option<Cell<'_>> {
    let lane = model.trace.lanes.get(row as usize)?;
    Some(match column {
        0 => int(row),
        2 => Cell::Text(match lane.kind {
            LaneKind::Host => "host",
            LaneKind::Device => "device",
            LaneKind::Async => "async",
            LaneKind::Derived => "derived",
            LaneKind::Profiler => "profiler",
        }),
        3 => Cell::Text(&lane.process),
        4 => Cell::Text(&lane.process_name),
        5 => Cell::Text(&lane.thread),
        6 => Cell::Text(&lane.thread_name),
        _ => return None,
    })
}

fn flow_cell(model: &Model, row: u32, column: usize) -> Option<Cell<'_>> {
    let flow = model.trace.flows.get(row as usize)?;
    Some(match column {
        0 => int(model.number(flow.from)),
        2 => int(model.number(flow.to)),
        3 => Cell::Text(model.trace.texts.get(flow.category)),
        _ => return None,
    })
}

fn memory_cell(model: &Model, row: u32, column: usize) -> Option<Cell<'static>> {
    let event = model.trace.memory.get(row as usize)?;
    Some(match column {
        0 => int(event.time.saturating_sub(model.origin())),
        2 => int(event.device_type),
        3 => int(event.device),
        4 => int(event.bytes),
        5 => int(event.address),
        6 => int(event.allocated),
        7 => int(event.reserved),
        _ => return None,
    })
}
