//! Models of lanes whose slices are given, or random.

use trainscope_analysis::trace::Model;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{
    Category, Lane, LaneKind, NONE, Slice, SliceClass, Trace, TraceFormat,
};

/// Reads a trace from its text.
pub(crate) fn read(text: &[u8]) -> Trace {
    let mut reader = TraceReader::new();
    reader.push(text);
    reader.finish()
}

/// Random numbers by `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below a limit above 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A lane with slices (begin, duration, name).
pub(crate) type Slices<'a> = (LaneKind, &'a [(i64, u64, &'a str)]);

/// A model of lanes with slices of programs.
pub(crate) fn of_lanes(lanes: &[Slices<'_>]) -> Model {
    let mut trace = Trace::default();
    trace.head.format = TraceFormat::Kineto;
    let classes = [SliceClass::Operator, SliceClass::Kernel];
    trace.categories = classes
        .map(|class| Category {
            class,
            ..Category::default()
        })
        .to_vec();
    for (number, (kind, slices)) in (0_u16..).zip(lanes) {
        trace.lanes.push(Lane {
            process: "0".to_owned(),
            thread: number.to_string(),
            kind: *kind,
            ..Lane::default()
        });
        for (begin, duration, name) in *slices {
            let category = u16::from(*kind == LaneKind::Device);
            trace.categories[usize::from(category)].count += 1;
            let name = trace.texts.intern(name);
            trace.slices.push(&Slice {
                begin: *begin,
                duration: *duration,
                name,
                lane: number,
                category,
                link: NONE,
                detail: NONE,
                place: 0,
            });
        }
    }
    Model::new(trace)
}

/// A model of random slices on two lanes: bursts of short ones, some long ones, some of no length.
pub(crate) fn random_model(seed: u64, count: usize, spread_bits: u32) -> Model {
    const NAMES: [&str; 5] = [
        "aten::mm",
        "aten::Add",
        "copy_",
        "forward",
        "nccl:all_reduce",
    ];
    let mut random = Random(seed);
    let mut lanes = [Vec::new(), Vec::new()];
    for _ in 0..count {
        let burst = random.below(8) << (spread_bits - 3);
        let width = 1_u64 << random.below(u64::from(spread_bits));
        let begin = i64::try_from(burst + random.below(width)).unwrap() - 500;
        let longest = 1_u64 << random.below(u64::from(spread_bits));
        let duration = random.below(longest);
        let name = NAMES[usize::try_from(random.below(5)).unwrap()];
        lanes[usize::try_from(random.below(2)).unwrap()].push((begin, duration, name));
    }
    of_lanes(&[(LaneKind::Host, &lanes[0]), (LaneKind::Device, &lanes[1])])
}

/// Begin and end of a slice since the origin.
pub(crate) fn span(model: &Model, slice: u32) -> (i64, i64) {
    let (begin, end) = model.span(slice);
    (begin - model.origin(), end - model.origin())
}

/// `true` if a slice touches a stretch of time since the origin.
pub(crate) fn touches(model: &Model, slice: u32, (from, to): (i64, i64)) -> bool {
    let (begin, end) = span(model, slice);
    begin < to && (end > from || begin >= from)
}
