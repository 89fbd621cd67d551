//! Events become rows of columns: texts, lanes, categories and slices, each within its limit.

use super::classes::{class_of, element_len};
use super::cursor::{nanos, number, signed, unescaped, unsigned};
use super::event::{Arguments, COLLECTIVE, Event, is_collective};
use super::flows::{FlowPoint, PointKind};
use super::names::{Map, Names};
use crate::trace::{
    Category, DeviceWork, Lane, LaneKind, NONE, Shapes, Slice, SliceClass, TextId, Texts, Trace,
};

/// Maximum number of lanes of a trace: their numbers have 16 bits, and one is reserved.
const MAX_LANES: usize = 65_535;
/// Maximum number of categories of a trace, for the same reason.
const MAX_CATEGORIES: usize = 65_535;
/// Maximum number of slices of a trace: their numbers have 32 bits, and one is [`NONE`].
const MAX_SLICES: usize = u32::MAX as usize;
/// Maximum total length of the texts of a trace, in bytes.
const MAX_TEXTS_LEN: u64 = 256 << 20;
/// Length at which a text is cut, in bytes.
const MAX_TEXT_LEN: usize = 64 << 10;
/// Phases are single characters of ASCII; all others are counted together under `?`.
const PHASES: usize = 128;

/// Reasons for dropping an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// It has no phase, or no time where it needs one.
    Damage,
    /// It exceeds a limit.
    Limit,
}

/// Columns under construction, with the state that is needed until the end of the file.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) trace: Trace,
    pub(super) lane_facts: Vec<LaneFacts>,
    pub(super) names: Names,
    pub(super) flow_points: Vec<FlowPoint>,
    /// Identifiers of flows that are not numbers.
    pub(super) flow_ids: Texts,
    /// Slices without their end, innermost last, by lane.
    pub(super) open: Map<u16, Vec<u32>>,
    /// Asynchronous slices without their end, by category and identifier.
    pub(super) open_async: Map<Box<[u8]>, Vec<u32>>,
    pub(super) series: Map<Box<[u8]>, u32>,
    /// Maximum number of kept events, and of kept values of counters.
    pub(super) max_events: u64,
    /// Number of values of counters.
    pub(super) values: u64,
    phases: [u64; PHASES],
    lanes: Map<Box<[u8]>, u16>,
    categories: Map<Box<[u8]>, u16>,
    shapes: Map<Box<[u8]>, u32>,
    device_work: Map<WorkKey, u32>,
    texts_len: u64,
    pub(super) scratch: Vec<u8>,
}

/// Facts about a lane from which its kind follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneFacts {
    /// A bit for each class of its slices.
    pub(super) classes: u16,
    /// `true` for the scopes of MindSpore 2.0.
    pub(super) is_scope: bool,
    /// `true` with instants other than those of the whole trace.
    pub(super) has_points: bool,
}

impl LaneFacts {
    /// `true` if a slice of the lane has a class that `matches`.
    pub(super) fn any(self, matches: impl Fn(SliceClass) -> bool) -> bool {
        CLASSES
            .iter()
            .any(|class| self.classes & bit(*class) != 0 && matches(*class))
    }
}

const CLASSES: [SliceClass; 13] = [
    SliceClass::Span,
    SliceClass::Operator,
    SliceClass::Annotation,
    SliceClass::PythonFrame,
    SliceClass::Runtime,
    SliceClass::Kernel,
    SliceClass::Memcpy,
    SliceClass::Memset,
    SliceClass::DeviceAnnotation,
    SliceClass::DeviceWait,
    SliceClass::Overhead,
    SliceClass::Window,
    SliceClass::Derived,
];

const fn bit(class: SliceClass) -> u16 {
    1 << class as u16
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct WorkKey {
    device: u32,
    bytes: u64,
    blocks: u32,
    occupancy: u32,
    sequence: u32,
    group: Option<TextId>,
    group_size: u32,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            trace: Trace::default(),
            lane_facts: Vec::new(),
            names: Names::default(),
            flow_points: Vec::new(),
            flow_ids: Texts::default(),
            open: Map::default(),
            open_async: Map::default(),
            series: Map::default(),
            max_events: u64::from(NONE),
            values: 0,
            phases: [0; PHASES],
            lanes: Map::default(),
            categories: Map::default(),
            shapes: Map::default(),
            device_work: Map::default(),
            texts_len: 0,
            scratch: Vec::new(),
        }
    }
}

impl Columns {
    /// Takes an event that begins at offset `place`; `false` if it cannot be read.
    pub(super) fn take(&mut self, event: &Event<'_>, place: u64) -> bool {
        let phase = match *event.phase {
            [phase] if phase.is_ascii_graphic() => phase,
            [] => return false,
            _ => b'?',
        };
        if self.trace.counts.events >= self.max_events {
            self.trace.counts.over_limit += 1;
        } else {
            match self.row(phase, event, place) {
                Ok(()) => {}
                Err(Loss::Limit) => self.trace.counts.over_limit += 1,
                Err(Loss::Damage) => return false,
            }
        }
        self.trace.counts.events += 1;
        if let Some(count) = self.phases.get_mut(usize::from(phase)) {
            *count += 1;
        }
        true
    }

    fn row(&mut self, phase: u8, event: &Event<'_>, place: u64) -> Result<(), Loss> {
        match phase {
            b'X' => {
                let duration = nanos(event.duration).unwrap_or(0);
                let slice = self.slice(event, place)?;
                self.set_duration(slice, duration);
                if !event.bind_id.is_empty() {
                    self.bound_flow(event, slice)?;
                }
                Ok(())
            }
            b'B' => {
                let lane = self.lane_of(event)?;
                let slice = self.slice(event, place);
                // A placeholder for its end, which would otherwise end another slice.
                let open = match slice {
                    Ok(slice) => slice,
                    Err(Loss::Limit) => NONE,
                    Err(Loss::Damage) => return Err(Loss::Damage),
                };
                self.open.entry(lane).or_default().push(open);
                slice.map(drop)
            }
            b'E' => {
                let end = nanos(event.time).ok_or(Loss::Damage)?;
                let lane = self.lane_of(event)?;
                let slice = self.open.get_mut(&lane).and_then(Vec::pop);
                self.close(slice, end);
                Ok(())
            }
            b'i' | b'I' | b'R' => self.instant(event),
            b'C' => self.counter(event),
            b's' => self.flow(event, PointKind::Begin),
            b't' => self.flow(event, PointKind::Step),
            b'f' => self.flow(event, PointKind::Finish),
            b'b' | b'S' => self.begin_async(event, place),
            b'n' | b'T' => self.async_instant(event),
            b'e' | b'F' => self.end_async(event),
            b'M' => self.metadata(event),
            _ => Ok(()),
        }
    }

    /// Brings the counts by phase up to date.
    pub(super) fn count_phases(&mut self) {
        let counts = &mut self.trace.counts;
        for (phase, count) in (0_u8..).zip(self.phases).filter(|(_, count)| *count > 0) {
            let is_read = b"XBEiIRCstfbSnTeFM".contains(&phase);
            let phase = char::from(phase).to_string();
            if !is_read {
                counts.unread.insert(phase.clone(), count);
            }
            counts.by_phase.insert(phase, count);
        }
    }

    /// Appends a slice of length 0; returns its number.
    fn slice(&mut self, event: &Event<'_>, place: u64) -> Result<u32, Loss> {
        let begin = nanos(event.time).ok_or(Loss::Damage)?;
        let lane = self.lane_of(event)?;
        self.slice_on(lane, begin, event, place)
    }

    /// Appends a slice of length 0 to a lane; returns its number.
    pub(super) fn slice_on(
        &mut self,
        lane: u16,
        begin: i64,
        event: &Event<'_>,
        place: u64,
    ) -> Result<u32, Loss> {
        let index = self.trace.slices.len();
        if index >= MAX_SLICES {
            return Err(Loss::Limit);
        }
        let name = self.text(event.name)?;
        let category = self.category(event.category)?;
        let class = self.class(category);
        let wanted = &event.wanted;
        // In Kineto's lines, only the arguments used here are searched, so other layouts must ignore the rest too.
        let link = match class {
            SliceClass::Operator => small(wanted.autograd_number),
            SliceClass::Annotation | SliceClass::PythonFrame => None,
            _ => small(wanted.correlation),
        };
        let detail = match class {
            SliceClass::Operator => self.shapes(wanted, event.name == COLLECTIVE),
            SliceClass::Annotation if is_collective(event.name) => self.shapes(wanted, false),
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset => self.work(wanted),
            _ => NONE,
        };
        if let Some(facts) = self.lane_facts.get_mut(usize::from(lane)) {
            facts.classes |= bit(class);
        }
        if let Some(category) = self.trace.categories.get_mut(usize::from(category)) {
            category.count += 1;
        }
        self.trace.slices.push(&Slice {
            begin,
            duration: 0,
            name,
            lane,
            category,
            link: link.unwrap_or(NONE),
            detail,
            place,
        });
        Ok(u32::try_from(index).unwrap_or(NONE))
    }

    /// Ends a slice; without one, the end is counted.
    pub(super) fn close(&mut self, slice: Option<u32>, end: i64) {
        match slice {
            // Its start exceeded a limit.
            Some(NONE) => {}
            Some(slice) => {
                let begin = self.trace.slices.begins.get(slice as usize).copied();
                self.set_duration(slice, end.saturating_sub(begin.unwrap_or(end)));
            }
            None => self.trace.counts.ends_without_begin += 1,
        }
    }

    /// Gives a slice of length 0 its duration.
    pub(super) fn set_duration(&mut self, slice: u32, duration: i64) {
        let nanos = u64::try_from(duration).unwrap_or_else(|_| {
            self.trace.counts.negative_durations += 1;
            0
        });
        let slice = slice as usize;
        let slices = &mut self.trace.slices;
        if let (Some(duration), Some(category)) = (
            slices.durations.get_mut(slice),
            slices.categories.get(slice),
        ) {
            *duration = nanos;
            if let Some(category) = self.trace.categories.get_mut(usize::from(*category)) {
                category.nanos = category.nanos.saturating_add(nanos);
            }
        }
    }

    pub(super) fn class(&self, category: u16) -> SliceClass {
        let category = self.trace.categories.get(usize::from(category));
        category.map_or(SliceClass::Span, |category| category.class)
    }

    /// Subtracts the bytes of a text from the limit.
    pub(super) fn charge(&mut self, len: usize) -> Result<(), Loss> {
        let texts_len = self.texts_len.saturating_add(len as u64);
        if texts_len > MAX_TEXTS_LEN {
            return Err(Loss::Limit);
        }
        self.texts_len = texts_len;
        Ok(())
    }

    /// Returns the bytes of an unused text to the limit.
    pub(super) fn refund(&mut self, len: usize) {
        self.texts_len = self.texts_len.saturating_sub(len as u64);
    }

    /// Number of a text, cut at [`MAX_TEXT_LEN`] bytes.
    pub(super) fn text(&mut self, raw: &[u8]) -> Result<TextId, Loss> {
        let text = unescaped(raw);
        let text = cut(&text);
        if let Some(id) = self.trace.texts.find(text) {
            return Ok(id);
        }
        self.charge(text.len())?;
        Ok(self.trace.texts.intern(text))
    }

    pub(super) fn lane_of(&mut self, event: &Event<'_>) -> Result<u16, Loss> {
        self.lane(
            LaneKind::Host,
            event.process,
            event.thread,
            event.scope_level,
        )
    }

    /// Number of the lane of a process and a thread, and of a depth if it is not empty.
    pub(super) fn lane(
        &mut self,
        kind: LaneKind,
        process: &[u8],
        thread: &[u8],
        level: &[u8],
    ) -> Result<u16, Loss> {
        let key = &mut self.scratch;
        key.clear();
        key.push(u8::from(kind == LaneKind::Async));
        key.extend_from_slice(&process.len().to_le_bytes());
        key.extend_from_slice(process);
        key.extend_from_slice(thread);
        if !level.is_empty() {
            key.push(b'#');
            key.extend_from_slice(level);
        }
        match self.lanes.get(key.as_slice()) {
            Some(lane) => Ok(*lane),
            None => self.new_lane(kind, process, thread, level),
        }
    }

    fn new_lane(
        &mut self,
        kind: LaneKind,
        process: &[u8],
        thread: &[u8],
        level: &[u8],
    ) -> Result<u16, Loss> {
        let key = self.scratch.clone();
        let decoded = (unescaped(process), unescaped(thread));
        let (process_text, thread_text) = (cut(&decoded.0), cut(&decoded.1));
        self.charge(key.len() + process_text.len() + thread_text.len())?;
        let lane = if [process, thread] == [process_text.as_bytes(), thread_text.as_bytes()] {
            let lanes = &mut self.trace.lanes;
            let index = u16::try_from(lanes.len()).map_err(|_| Loss::Limit)?;
            if lanes.len() >= MAX_LANES {
                return Err(Loss::Limit);
            }
            let mut thread = thread_text.to_owned();
            if !level.is_empty() {
                thread.push('#');
                thread.push_str(&String::from_utf8_lossy(level));
            }
            let mut lane = Lane {
                process: process_text.to_owned(),
                thread,
                kind,
                ..Lane::default()
            };
            self.names.give(&mut lane, thread_text);
            lanes.push(lane);
            self.lane_facts.push(LaneFacts {
                is_scope: !level.is_empty(),
                ..LaneFacts::default()
            });
            index
        } else {
            // The same texts may be written with and without escapes.
            self.lane(kind, process_text.as_bytes(), thread_text.as_bytes(), level)?
        };
        self.lanes.insert(key.clone().into(), lane);
        self.scratch = key;
        Ok(lane)
    }

    fn category(&mut self, raw: &[u8]) -> Result<u16, Loss> {
        match self.categories.get(raw) {
            Some(category) => Ok(*category),
            None => self.new_category(raw),
        }
    }

    fn new_category(&mut self, raw: &[u8]) -> Result<u16, Loss> {
        let decoded = unescaped(raw);
        let name = cut(&decoded);
        self.charge(raw.len() + name.len())?;
        let same = self
            .trace
            .categories
            .iter()
            .position(|category| category.name == name);
        let index = same.unwrap_or(self.trace.categories.len());
        if index >= MAX_CATEGORIES {
            return Err(Loss::Limit);
        }
        if same.is_none() {
            self.trace.categories.push(Category {
                name: name.to_owned(),
                class: class_of(name),
                ..Category::default()
            });
        }
        let category = u16::try_from(index).map_err(|_| Loss::Limit)?;
        self.categories.insert(raw.into(), category);
        Ok(category)
    }

    /// Number of the shapes of an operator; [`NONE`] if it has none.
    fn shapes(&mut self, wanted: &Arguments<'_>, has_message: bool) -> u32 {
        let message = has_message.then(|| self.message(wanted));
        if let Some(message) = message.filter(|message| *message != NONE) {
            return message;
        }
        let texts = [wanted.dims, wanted.types, wanted.concrete];
        if texts.iter().all(|text| text.is_empty()) {
            return NONE;
        }
        let key = &mut self.scratch;
        key.clear();
        for text in texts {
            key.extend_from_slice(&text.len().to_le_bytes());
            key.extend_from_slice(text);
        }
        if let Some(shapes) = self.shapes.get(key.as_slice()) {
            return *shapes;
        }
        let len = key.len();
        let key: Box<[u8]> = key.as_slice().into();
        let is_long = texts.iter().any(|text| text.len() > MAX_TEXT_LEN);
        let index = u32::try_from(self.trace.shapes.len()).unwrap_or(NONE);
        if is_long || index == NONE || self.charge(2 * len).is_err() {
            return NONE;
        }
        let [dims, types, concrete] = texts.map(|text| String::from_utf8_lossy(text).into_owned());
        self.trace.shapes.push(Shapes {
            dims,
            types,
            concrete,
            ..Shapes::default()
        });
        self.shapes.insert(key, index);
        index
    }

    /// Number of the message of a collective; [`NONE`] without its size.
    fn message(&mut self, wanted: &Arguments<'_>) -> u32 {
        let shapes = Shapes {
            message_bytes: message_bytes(wanted),
            group_size: small(wanted.group_size).unwrap_or(0),
            ..Shapes::default()
        };
        if shapes.message_bytes == 0 {
            return NONE;
        }
        let key = [shapes.message_bytes, u64::from(shapes.group_size)].map(u64::to_le_bytes);
        let all = &mut self.trace.shapes;
        *self.shapes.entry(key.concat().into()).or_insert_with(|| {
            let index = u32::try_from(all.len()).unwrap_or(NONE);
            all.push(shapes);
            index
        })
    }

    /// Number of the arguments of a kernel, copy or fill.
    fn work(&mut self, wanted: &Arguments<'_>) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "shares with a few digits; infinite beyond the range"
        )]
        let share = |text| number(text).map_or(-1.0, |value| value as f32);
        let group = if wanted.group.is_empty() {
            None
        } else {
            self.text(wanted.group).ok()
        };
        let bytes = unsigned(wanted.bytes).unwrap_or_else(|| message_bytes(wanted));
        let work = DeviceWork {
            device: small(wanted.device).unwrap_or(0),
            bytes,
            blocks_per_multiprocessor: share(wanted.blocks),
            occupancy_percent: share(wanted.occupancy),
            sequence: small(wanted.sequence).unwrap_or(NONE),
            group,
            group_size: small(wanted.group_size).unwrap_or(0),
        };
        let key = WorkKey {
            device: work.device,
            bytes: work.bytes,
            blocks: work.blocks_per_multiprocessor.to_bits(),
            occupancy: work.occupancy_percent.to_bits(),
            sequence: work.sequence,
            group: work.group,
            group_size: work.group_size,
        };
        let all = &mut self.trace.device_work;
        *self.device_work.entry(key).or_insert_with(|| {
            let index = u32::try_from(all.len()).unwrap_or(NONE);
            all.push(work);
            index
        })
    }

    /// An argument as a number; 0 if it is missing.
    pub(super) fn integer(text: &[u8]) -> i64 {
        signed(text).unwrap_or(0)
    }
}

/// Bytes of the larger side of a collective; 0 if they are unknown.
fn message_bytes(wanted: &Arguments<'_>) -> u64 {
    let elements = unsigned(wanted.elements_in).max(unsigned(wanted.elements_out));
    let len = element_len(wanted.element_type);
    elements.unwrap_or(0).saturating_mul(len)
}

fn small(text: &[u8]) -> Option<u32> {
    unsigned(text).and_then(|value| u32::try_from(value).ok())
}

/// The text up to [`MAX_TEXT_LEN`].
pub(super) fn cut(text: &str) -> &str {
    let mut len = text.len().min(MAX_TEXT_LEN);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    text.get(..len).unwrap_or_default()
}
