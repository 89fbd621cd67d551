//! The same collectives on all ranks: the order of arrival, and the clocks of the ranks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trainscope_api::profile::CollectiveRow;
use trainscope_format::trace::{NONE, SliceClass};

use super::super::kernels::short_name;
use super::super::roofline::input_bytes;
use super::super::work::{ancestors, launch, role};
use super::super::{Model, Role, figures};
use super::rounded;

/// A collective of one rank.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    key: Key,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Short name of its kernel or operator.
    name: Arc<str>,
    /// Description of its process group, or its name; `None` if the file does not name it.
    pub(super) group: Option<Arc<str>>,
    /// `true` if one rank sends to another.
    pub(super) is_point_to_point: bool,
    message: Message,
}

impl Collective {
    /// Number of ranks that take part; 0 if unknown.
    pub(super) const fn group_size(&self) -> u64 {
        self.message.ranks
    }

    /// Bytes of the larger of input and output; 0 if unknown.
    pub(super) const fn bytes(&self) -> u64 {
        self.message.bytes
    }
}

/// Texts of a trace, each of them once.
#[derive(Default)]
struct Texts(HashMap<String, Arc<str>, foldhash::fast::RandomState>);

impl Texts {
    fn of(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = text.into();
        self.0.insert(text.to_owned(), Arc::clone(&shared));
        shared
    }
}

/// Description of the process group of a collective, or its name.
fn group_of(model: &Model, slice: u32) -> Option<&str> {
    let name = model.trace.texts.get(work(model, slice)?.group?);
    let groups = &model.trace.head.process_groups;
    let group = groups.iter().find(|group| group.name == name);
    let description = group.map(|group| &*group.description);
    Some(description.filter(|text| !text.is_empty()).unwrap_or(name))
}

/// `true` if one rank sends to another.
fn is_point_to_point(model: &Model, slice: u32, operation: &str) -> bool {
    match operation {
        "send" | "recv" => true,
        "coalesced" => model.name(slice).contains("SendRecv"),
        _ => false,
    }
}

/// Message of a collective.
#[derive(Clone, Debug)]
struct Message {
    /// Name of the operation in the program, as `all_reduce`; empty if unknown.
    operation: Arc<str>,
    /// Bytes of the larger of input and output; 0 if unknown.
    bytes: u64,
    /// Number of ranks that take part; 0 if unknown.
    ranks: u64,
}

/// Identity of a collective, the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// Process group, and number in it.
    Sequence(Arc<str>, u32),
    /// Name, stream, and number among those of this name on it.
    Place(Arc<str>, Arc<str>, u32),
}

/// A collective that several ranks took part in.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    /// Indices of the ranks, and of their collectives.
    pub(super) members: Vec<(usize, usize)>,
    /// Clock of each member minus that of the first rank.
    offsets: Vec<i64>,
    /// Start of the first, of the last, and the last end, on the clock of the first rank.
    first: i64,
    pub(super) arrived: i64,
    end: i64,
}

impl Meeting {
    /// Clock of a rank minus that of the first one.
    pub(super) fn offset_of(&self, rank: usize) -> i64 {
        let mut members = self.members.iter().zip(&self.offsets);
        members
            .find(|((member, _), _)| *member == rank)
            .map_or(0, |(_, offset)| *offset)
    }
}

/// Collectives of a trace in the order of lanes and time: those of devices, or those of the host without any.
pub(super) fn of_model(model: &Model) -> Vec<Collective> {
    let communicates = |slice: &u32| role(model, *slice) == Role::Communication;
    let on_device = model
        .slices()
        .filter(|slice| communicates(slice) && model.is_device(*slice));
    let mut slices: Vec<u32> = on_device.collect();
    if slices.is_empty() {
        slices = model.slices().filter(communicates).collect();
    }
    let mut texts = Texts::default();
    let mut counts: HashMap<(u32, u16), u32, foldhash::fast::RandomState> = HashMap::default();
    let calls: Vec<Option<u32>> = slices.iter().map(|slice| call(model, *slice)).collect();
    let mut uses: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
    for call in calls.iter().flatten() {
        *uses.entry(*call).or_default() += 1;
    }
    let calls = calls.into_iter().map(|call| {
        let is_shared = |call: u32| uses.get(&call).is_some_and(|uses| *uses > 1);
        call.map(|call| (call, is_shared(call)))
    });
    let all = slices.into_iter().zip(calls).map(|(slice, call)| {
        let (begin, end) = model.span(slice);
        let message = message(model, slice, call, &mut texts);
        Collective {
            key: key(model, slice, &mut counts, &mut texts),
            begin,
            end,
            name: texts.of(short_name(model.name(slice))),
            group: group_of(model, slice).map(|group| texts.of(group)),
            is_point_to_point: is_point_to_point(model, slice, &message.operation),
            message,
        }
    });
    all.collect()
}

/// For each collective the latest end of those that began before it on the rank; `i64::MIN` for the first.
pub(super) fn ends_before(collectives: &[Collective]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..collectives.len()).collect();
    order.sort_by_key(|place| collectives[*place].begin);
    let mut ends = vec![i64::MIN; collectives.len()];
    let mut latest = i64::MIN;
    for place in order {
        ends[place] = latest.min(collectives[place].begin);
        latest = latest.max(collectives[place].end);
    }
    ends
}

/// Starts of the names of annotations around collectives, by the backends of `PyTorch`.
const BACKENDS: [&str; 3] = ["nccl:", "gloo:", "mpi:"];

/// The operation in the name of an annotation.
fn operation(name: &str) -> Option<&str> {
    let mut found = BACKENDS.iter().filter_map(|start| name.strip_prefix(start));
    found.next()
}

/// The annotation around the launch of a collective, or around the collective itself on a host.
fn call(model: &Model, slice: u32) -> Option<u32> {
    let inner = launch(model, slice).unwrap_or(slice);
    ancestors(model, inner).find(|slice| {
        model.class(*slice) == SliceClass::Annotation && operation(model.name(*slice)).is_some()
    })
}

/// The message of a collective: from its kernel, else from the operator around the launch, else from the inputs of the
/// annotation `call` around it. A call of several collectives does not tell the size of each (`is_shared`).
fn message(model: &Model, slice: u32, call: Option<(u32, bool)>, texts: &mut Texts) -> Message {
    let name = call.and_then(|(call, _)| operation(model.name(call)));
    // Annotations of single messages have the ranks behind the word: `send 0->1`.
    let name = name.and_then(|name| name.split(' ').next());
    let work = work(model, slice);
    let mut message = Message {
        operation: texts.of(name.unwrap_or_default().trim_start_matches('_')),
        bytes: work.map_or(0, |work| work.bytes),
        ranks: work.map_or(0, |work| u64::from(work.group_size)),
    };
    let Some((call, false)) = call.filter(|_| message.bytes == 0) else {
        return message;
    };
    let shapes = |slice: u32| {
        let detail = model.trace.slices.details.get(slice as usize)?;
        model.trace.shapes.get(*detail as usize)
    };
    let inner = launch(model, slice).unwrap_or(slice);
    let mut around = ancestors(model, inner).filter_map(shapes);
    if let Some(told) = around.find(|shapes| shapes.message_bytes > 0) {
        message.bytes = told.message_bytes;
        message.ranks = u64::from(told.group_size);
    } else if !name.is_some_and(gathers) {
        message.bytes = shapes(call).map_or(0, input_bytes);
    }
    message
}

/// `true` for collectives with more output than input.
fn gathers(operation: &str) -> bool {
    operation.contains("gather") && !operation.contains("reduce_scatter")
}

fn key(
    model: &Model,
    slice: u32,
    counts: &mut HashMap<(u32, u16), u32, foldhash::fast::RandomState>,
    texts: &mut Texts,
) -> Key {
    let index = slice as usize;
    let slices = &model.trace.slices;
    if let Some(work) = work(model, slice).filter(|work| work.sequence != NONE) {
        let group = work.group.map_or("", |group| model.trace.texts.get(group));
        return Key::Sequence(texts.of(group), work.sequence);
    }
    let (name, lane) = (slices.names[index], slices.lanes[index]);
    let count = counts.entry((name.0, lane)).or_default();
    *count += 1;
    let thread = model.trace.lanes.get(usize::from(lane));
    // Threads of a host have other numbers on each rank.
    let is_host = matches!(
        model.class(slice),
        SliceClass::Operator | SliceClass::Annotation | SliceClass::Span
    );
    let stream = thread.filter(|_| !is_host).map(|lane| &*lane.thread);
    Key::Place(
        texts.of(model.name(slice)),
        texts.of(stream.unwrap_or_default()),
        *count,
    )
}

fn work(model: &Model, slice: u32) -> Option<&trainscope_format::trace::DeviceWork> {
    if model.class(slice) != SliceClass::Kernel {
        return None;
    }
    let detail = model.trace.slices.details.get(slice as usize)?;
    model.trace.device_work.get(*detail as usize)
}

/// Time of each rank minus that of the first at the same moment: the median difference of the ends of common collectives.
/// Without them, the clocks are taken as equal: the difference follows from `origins`, the time since 1970 at 0 of each
/// rank; 0 if unknown.
pub(super) fn offsets(by_rank: &[&[Collective]], origins: &[Option<i64>]) -> Vec<i64> {
    let Some((first, _)) = by_rank.split_first() else {
        return Vec::new();
    };
    let of_origins = |rank: usize| {
        let origin = |rank: usize| origins.get(rank).copied().flatten();
        let both = origin(0).zip(origin(rank));
        both.map_or(0, |(first, origin)| first.saturating_sub(origin))
    };
    let ends: HashMap<&Key, i64, foldhash::fast::RandomState> =
        first.iter().map(|one| (&one.key, one.end)).collect();
    let offset = |(rank, collectives): (usize, &&[Collective])| {
        let same = collectives.iter().filter_map(|one| {
            let end = ends.get(&one.key)?;
            Some(one.end.saturating_sub(*end))
        });
        let mut differences: Vec<i64> = same.collect();
        if differences.is_empty() {
            of_origins(rank)
        } else {
            figures::median(&mut differences)
        }
    };
    by_rank.iter().enumerate().map(offset).collect()
}

/// Collectives of at least two ranks.
pub(super) fn meetings(by_rank: &[&[Collective]], offsets: &[i64]) -> Vec<Meeting> {
    let mut members: BTreeMap<&Key, Vec<(usize, usize)>> = BTreeMap::new();
    for (rank, collectives) in by_rank.iter().enumerate() {
        for (place, one) in collectives.iter().enumerate() {
            let all = members.entry(&one.key).or_default();
            // A repeated number on a rank is another collective, whose other ranks are unknown.
            if all.last().is_none_or(|last| last.0 != rank) {
                all.push((rank, place));
            }
        }
    }
    let met = members.into_values().filter(|members| members.len() > 1);
    let meeting = |members: Vec<(usize, usize)>| {
        let offset = |rank: usize| offsets.get(rank).copied().unwrap_or_default();
        let times = || {
            members.iter().filter_map(|(rank, place)| {
                let one = by_rank.get(*rank)?.get(*place)?;
                let moved = |time: i64| time.saturating_sub(offset(*rank));
                Some((moved(one.begin), moved(one.end)))
            })
        };
        let begins = || times().map(|time| time.0);
        Meeting {
            first: begins().min().unwrap_or_default(),
            arrived: begins().max().unwrap_or_default(),
            end: times().map(|time| time.1).max().unwrap_or_default(),
            offsets: members.iter().map(|(rank, _)| offset(*rank)).collect(),
            members,
        }
    };
    met.map(meeting).collect()
}

/// Key of a row: kernel, operation, bytes.
type RowKey<'m> = (&'m str, &'m str, u64);

/// Sums of the collectives of a row.
#[derive(Default)]
struct Sums {
    count: u64,
    nanos: i64,
    hidden: i64,
    meetings: u64,
    spread: i64,
    transfer: i64,
    ranks: u64,
}

/// Rows by name and size, those that take longest first; `true` if rows were left out. `compute_of` is the time during
/// which a rank computes in a span.
pub(super) fn rows(
    by_rank: &[&[Collective]],
    meetings: &[Meeting],
    limit: usize,
    compute_of: impl Fn(usize, (i64, i64)) -> i64,
) -> (Vec<CollectiveRow>, bool) {
    let mut sums: BTreeMap<RowKey<'_>, Sums> = BTreeMap::new();
    let sizes = sizes(by_rank, meetings);
    for (rank, (collectives, sizes)) in by_rank.iter().zip(&sizes).enumerate() {
        for (one, bytes) in collectives.iter().zip(sizes) {
            let sum = sums.entry(row_key(one, *bytes)).or_default();
            let hidden = compute_of(rank, (one.begin, one.end));
            sum.count += 1;
            sum.nanos = sum.nanos.saturating_add(one.end.saturating_sub(one.begin));
            sum.hidden = sum.hidden.saturating_add(hidden);
        }
    }
    for meeting in meetings {
        let Some((index, place)) = meeting.members.first() else {
            continue;
        };
        let one = by_rank
            .get(*index)
            .and_then(|collectives| collectives.get(*place));
        let Some(one) = one else {
            continue;
        };
        let bytes = sizes.get(*index).and_then(|of_rank| of_rank.get(*place));
        let key = row_key(one, bytes.copied().unwrap_or_default());
        let sum = sums.entry(key).or_default();
        sum.meetings += 1;
        let members = meeting.members.len() as u64;
        sum.ranks = sum.ranks.max(one.message.ranks).max(members);
        let spread = meeting.arrived.saturating_sub(meeting.first);
        let transfer = meeting.end.saturating_sub(meeting.arrived).max(0);
        sum.spread = sum.spread.saturating_add(spread);
        sum.transfer = sum.transfer.saturating_add(transfer);
    }
    let ranks = by_rank.len().max(1) as u64;
    let mut rows: Vec<CollectiveRow> = sums
        .into_iter()
        .map(|(key, sum)| row(key, &sum, ranks))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.nanos.saturating_mul(row.count.cast_signed())));
    let cut = rows.len() > limit;
    rows.truncate(limit);
    (rows, cut)
}

fn row_key(one: &Collective, bytes: u64) -> RowKey<'_> {
    (&one.name, &one.message.operation, bytes)
}

/// Bytes of the message of each collective of each rank. Ranks may send different sizes in one collective (all to
/// all): it has the mean of the known sizes.
fn sizes(by_rank: &[&[Collective]], meetings: &[Meeting]) -> Vec<Vec<u64>> {
    let bytes =
        |collectives: &&[Collective]| collectives.iter().map(|one| one.message.bytes).collect();
    let mut sizes: Vec<Vec<u64>> = by_rank.iter().map(bytes).collect();
    for meeting in meetings {
        let member = |sizes: &[Vec<u64>], (rank, place): (usize, usize)| {
            sizes
                .get(rank)
                .and_then(|of_rank| of_rank.get(place))
                .copied()
        };
        let known = meeting.members.iter();
        let known = known.filter_map(|at| member(&sizes, *at).filter(|bytes| *bytes > 0));
        let known: Vec<u64> = known.collect();
        let sum = known.iter().copied().fold(0, u64::saturating_add);
        let mean = sum / (known.len() as u64).max(1);
        for (rank, place) in &meeting.members {
            if let Some(bytes) = sizes
                .get_mut(*rank)
                .and_then(|of_rank| of_rank.get_mut(*place))
            {
                *bytes = mean;
            }
        }
    }
    sizes
}

fn row((name, operation, bytes): RowKey<'_>, sum: &Sums, ranks: u64) -> CollectiveRow {
    let mean = |total: i64, count: u64| rounded(total as f64 / count.max(1) as f64);
    let transfer_nanos = mean(sum.transfer, sum.meetings);
    let bandwidth = if transfer_nanos > 0 {
        let factor = match operation {
            "" => bus_factor(name, sum.ranks),
            operation => bus_factor(operation, sum.ranks),
        };
        factor * bytes as f64 * 1e9 / transfer_nanos as f64
    } else {
        0.0
    };
    CollectiveRow {
        name: name.to_owned(),
        operation: operation.to_owned(),
        algorithm: algorithm(name),
        count: sum.count.div_ceil(ranks),
        bytes,
        nanos: mean(sum.nanos, sum.count),
        hidden: sum.hidden as f64 / sum.nanos.max(1) as f64,
        spread_nanos: mean(sum.spread, sum.meetings),
        transfer_nanos,
        bandwidth,
    }
}

/// Algorithms and protocols of NCCL and RCCL, as in the names of their kernels.
const ALGORITHMS: [&str; 7] = [
    "COLLNET_DIRECT",
    "COLLNET_CHAIN",
    "NVLS_TREE",
    "NVLS",
    "RING",
    "TREE",
    "PAT",
];
const PROTOCOLS: [&str; 3] = ["LL128", "LL", "SIMPLE"];

/// Algorithm and protocol of a kernel of NCCL: `ring, LL128` for `ncclDevKernel_AllReduce_Sum_f32_RING_LL128`; empty
/// if its name does not tell.
fn algorithm(kernel: &str) -> String {
    let name = format!("{kernel}_");
    let has = |part: &&&str| name.contains(&format!("_{part}_"));
    let of = |all: &'static [&str]| all.iter().find(has).copied();
    let words = |name: &str| name.to_ascii_lowercase().replace('_', " ");
    match (of(&ALGORITHMS), of(&PROTOCOLS)) {
        (Some(algorithm), Some("SIMPLE")) => format!("{}, simple", words(algorithm)),
        (Some(algorithm), Some(protocol)) => format!("{}, {protocol}", words(algorithm)),
        (Some(algorithm), None) => words(algorithm),
        (None, _) => String::new(),
    }
}

/// Share of its bytes that a collective sends over each link (NVIDIA's nccl-tests, `PERFORMANCE.md`).
fn bus_factor(name: &str, ranks: u64) -> f64 {
    let letters = name.to_ascii_lowercase().replace('_', "");
    let others = ranks.saturating_sub(1) as f64 / ranks.max(1) as f64;
    if letters.contains("allreduce") {
        2.0 * others
    } else if ["gather", "scatter", "alltoall"]
        .iter()
        .any(|part| letters.contains(part))
    {
        others
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_is_in_the_name_of_the_kernel() {
        for (name, expected) in [
            ("ncclKernel_AllReduce_RING_LL_Sum_float", "ring, LL"),
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL128", "ring, LL128"),
            (
                "ncclDevKernel_AllReduce_Sum_f32_TREE_SIMPLE",
                "tree, simple",
            ),
            (
                "ncclDevKernel_AllReduce_Sum_bf16_NVLS_TREE_SIMPLE",
                "nvls tree, simple",
            ),
            ("ncclDevKernel_SendRecv", ""),
            ("ncclDevKernel_Generic_2", ""),
        ] {
            assert_eq!(algorithm(name), expected, "{name}");
        }
    }

    #[test]
    fn factors_are_those_of_nccl_tests() {
        for (name, expected) in [
            ("all_reduce", 1.75),
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1.75),
            ("allgather_base", 0.875),
            ("reduce_scatter_tensor", 0.875),
            ("all_to_all", 0.875),
            ("broadcast", 1.0),
            ("send", 1.0),
        ] {
            assert!((bus_factor(name, 8) - expected).abs() < 1e-9, "{name}");
        }
    }
}
