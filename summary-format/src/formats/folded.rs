//! Folded stacks: `a;b;c number` a line, from torch's `export_stacks`, py-spy and perf.
//!
//! The lines have no times. Stacks become nested slices, laid one after another in the order of their first line; a
//! slice is as long as the sum of its lines, in the unit of the file (samples or microseconds).

use std::collections::HashMap;

use super::trace_builder::{TraceBuilder, lines};
use crate::trace::{Lane, NONE, Slice, SliceClass, TextId, Trace, TraceFormat};

/// A frame below one stack of callers.
struct Node {
    name: TextId,
    /// Sum of the lines of this frame and of all frames below it.
    total: u64,
    /// Index of the calling frame; [`usize::MAX`] for the first.
    parent: usize,
    place: usize,
    first_child: usize,
    last_child: usize,
    next: usize,
}

const NO_NODE: usize = usize::MAX;
/// Maximum number of frames of a stack, which are the rows of a lane.
const MAX_DEPTH: usize = 1_024;
/// Maximum number of different stacks: a few hundred megabytes of memory.
const MAX_NODES: usize = 1 << 22;

/// Reads a file. Lines without a number are damage; a last line without a line break may lack digits and is left out.
pub fn read(bytes: &[u8]) -> Trace {
    let mut builder = TraceBuilder::new(TraceFormat::Folded);
    builder.trace.counts.bytes = bytes.len() as u64;
    let mut nodes: Vec<Node> = Vec::new();
    let mut places: HashMap<(usize, TextId), usize, foldhash::fast::RandomState> =
        HashMap::default();
    let (mut first, mut last) = (NO_NODE, NO_NODE);
    let mut total = 0_u64;
    for (offset, line, is_whole) in lines(bytes) {
        if !is_whole {
            builder.trace.counts.truncated = true;
            continue;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        builder.trace.counts.events += 1;
        let Some((stack, value)) = parts(line) else {
            builder.trace.counts.damage(offset, line.len());
            continue;
        };
        // Ends of slices are signed numbers.
        let sum = total.checked_add(value);
        let Some(sum) = sum.filter(|sum| i64::try_from(*sum).is_ok()) else {
            builder.trace.counts.over_limit += 1;
            continue;
        };
        total = sum;
        let mut parent = NO_NODE;
        let stack = String::from_utf8_lossy(stack);
        for (depth, frame) in stack.split(';').enumerate() {
            let is_over = depth == MAX_DEPTH || nodes.len() == MAX_NODES;
            let name = builder.name(frame).filter(|_| !is_over);
            let Some(name) = name else {
                builder.trace.counts.over_limit += 1;
                break;
            };
            let node = *places.entry((parent, name)).or_insert(nodes.len());
            if node == nodes.len() {
                nodes.push(Node {
                    name,
                    total: 0,
                    parent,
                    place: offset,
                    first_child: NO_NODE,
                    last_child: NO_NODE,
                    next: NO_NODE,
                });
                let before = match nodes.get_mut(parent) {
                    Some(around) if around.first_child == NO_NODE => {
                        around.first_child = node;
                        std::mem::replace(&mut around.last_child, node)
                    }
                    Some(around) => std::mem::replace(&mut around.last_child, node),
                    None => std::mem::replace(&mut last, node),
                };
                if let Some(before) = nodes.get_mut(before) {
                    before.next = node;
                }
                if first == NO_NODE {
                    first = node;
                }
            }
            if let Some(node) = nodes.get_mut(node) {
                node.total += value;
            }
            parent = node;
        }
    }
    lay(&nodes, first, &mut builder);
    builder.trace
}

/// Stack and number of a line. Frames may have spaces.
fn parts(line: &[u8]) -> Option<(&[u8], u64)> {
    let line = line.trim_ascii_end();
    let space = memchr::memrchr(b' ', line)?;
    let number = str::from_utf8(&line[space + 1..]).ok()?.parse().ok()?;
    let stack = line[..space].trim_ascii();
    (!stack.is_empty()).then_some((stack, number))
}

/// Appends a slice for each node, callers before callees.
fn lay(nodes: &[Node], first: usize, builder: &mut TraceBuilder) {
    let lane = builder.lane(Lane {
        process: "stacks".to_owned(),
        process_name: "Folded stacks".to_owned(),
        ..Lane::default()
    });
    let (Some(lane), category) = (lane, builder.category("stack", SliceClass::Span)) else {
        return;
    };
    let mut at = first;
    let mut begin = 0_i64;
    while let Some(node) = nodes.get(at) {
        builder.push(&Slice {
            begin,
            duration: node.total,
            name: node.name,
            lane,
            category,
            link: NONE,
            detail: NONE,
            place: node.place as u64,
        });
        at = node.first_child;
        if at != NO_NODE {
            continue;
        }
        // Up to the next sibling of this frame or of one of its callers; the self time of a frame follows its callees.
        let mut up = Some(node);
        begin = begin.saturating_add_unsigned(node.total);
        while let Some(node) = up {
            at = node.next;
            if at != NO_NODE {
                break;
            }
            up = nodes.get(node.parent);
            if let Some(around) = up {
                let below = below(nodes, around);
                begin = begin.saturating_add_unsigned(around.total.saturating_sub(below));
            }
        }
    }
}

/// Sum of the totals of a frame's direct callees.
fn below(nodes: &[Node], around: &Node) -> u64 {
    let children =
        std::iter::successors(nodes.get(around.first_child), |node| nodes.get(node.next));
    children.map(|node| node.total).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(trace: &Trace) -> Vec<(&str, i64, u64)> {
        let slices = (0..trace.slices.len()).filter_map(|index| trace.slices.get(index));
        slices
            .map(|one| (trace.texts.get(one.name), one.begin, one.duration))
            .collect()
    }

    #[test]
    fn stacks_are_nested_and_follow_one_another() {
        let text = "main;load 3\nmain;train;forward 5\nmain 2\nother thread;idle 7\nmain;train 1\nmain;load 1\n";
        let trace = read(text.as_bytes());
        assert_eq!(
            slices(&trace),
            [
                ("main", 0, 12),
                ("load", 0, 4),
                ("train", 4, 6),
                ("forward", 4, 5),
                ("other thread", 12, 7),
                ("idle", 12, 7)
            ]
        );
        assert_eq!((trace.counts.events, trace.counts.damaged), (6, 0));
        assert_eq!(trace.categories[0].count, 6);
        assert_eq!(trace.head.format, TraceFormat::Folded);
    }

    #[test]
    fn bad_lines_are_damage_and_an_empty_file_is_an_empty_trace() {
        let trace = read(b"a;b 1\nno number\n 5\n\na 18446744073709551615\n\xff;b 2\na;b 1");
        let offsets: Vec<_> = trace.counts.damages.iter().map(|one| one.offset).collect();
        assert_eq!(offsets, [6, 16]);
        assert_eq!((trace.counts.over_limit, trace.counts.truncated), (1, true));
        assert_eq!(slices(&trace)[2], ("\u{fffd}", 1, 2));
        let empty = read(b"");
        assert_eq!((empty.slices.len(), empty.counts.truncated), (0, false));
    }
}
