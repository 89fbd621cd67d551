//! Stacks of a stretch of time added up: a flame chart, top down or bottom up, and folded stacks for other tools.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;

use trainscope_api::profile::{FlameAnswer, FlameFrame, MAX_FRAMES};
use trainscope_api::timeline::TimeKind;
use trainscope_format::trace::{LaneKind, NONE, TextId};

use super::Model;
use super::area::chosen;
use super::clip::clips;
use super::levels::Levels;

/// Maximum number of different stacks; further ones are joined below the frame that they have in common.
const MAX_STACKS: usize = 65_536;
/// Name of frames that were joined.
const JOINED_NAME: &str = "…";
/// Number of the name of frames that were joined; larger than that of any text.
const JOINED: u32 = NONE;
/// Number of the node above all roots.
const TOP: u32 = 0;

/// A frame of the tree of stacks.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    name: u32,
    kind: TimeKind,
    total: i64,
    self_time: i64,
    count: u64,
}

/// Stacks of an area as a tree.
#[derive(Clone, Debug)]
pub struct Stacks<'model> {
    model: &'model Model,
    /// Parents are before their children. The first node is above all roots.
    nodes: Vec<Node>,
    children: HashMap<(u32, u32), u32, foldhash::fast::RandomState>,
}

impl<'model> Stacks<'model> {
    fn empty(model: &'model Model) -> Self {
        let top = Node {
            parent: NONE,
            name: JOINED,
            kind: TimeKind::Host,
            total: 0,
            self_time: 0,
            count: 0,
        };
        Self {
            model,
            nodes: vec![top],
            children: HashMap::default(),
        }
    }

    /// Adds up the stacks between two times since the origin, clipped to it, with callers above callees. Without a
    /// choice of lanes, those that a writer derived and those of the profiler are left out.
    pub fn new(
        model: &'model Model,
        levels: &Levels,
        (from, to): (i64, i64),
        lanes: Option<&[u32]>,
    ) -> Self {
        let origin = model.origin();
        let area = (origin.saturating_add(from), origin.saturating_add(to));
        let mut stacks = Self::empty(model);
        for lane in chosen(model, lanes) {
            let kind = model.trace.lanes.get(lane as usize).map(|lane| lane.kind);
            let is_work = matches!(
                kind,
                Some(LaneKind::Host | LaneKind::Device | LaneKind::Async)
            );
            if lanes.is_some() || is_work {
                stacks.add_lane(levels, lane, area);
            }
        }
        stacks
    }

    /// Adds up the bytes of allocations by their call stacks; those of an unknown stack are left out.
    pub fn of_memory(model: &'model Model, allocations: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut sums: HashMap<u32, (i64, u64), foldhash::fast::RandomState> = HashMap::default();
        for (stack, bytes) in allocations {
            let sum = sums.entry(stack).or_default();
            sum.0 = sum.0.saturating_add_unsigned(bytes);
            sum.1 += 1;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        let mut stacks = Self::empty(model);
        for (stack, (bytes, count)) in sums {
            let mut frames: Vec<TextId> = model.trace.stacks.frames(stack).collect();
            frames.reverse();
            let mut node = TOP;
            for name in frames {
                node = stacks.child(node, name.0, TimeKind::Host);
                stacks.add(node, bytes, count);
            }
            let last = &mut stacks.nodes[node as usize];
            last.self_time = last.self_time.saturating_add(bytes);
        }
        stacks
    }

    fn add_lane(&mut self, levels: &Levels, lane: u32, area: (i64, i64)) {
        let model = self.model;
        // The last slice of each row and its node.
        let mut last = vec![(NONE, TOP); levels.depth(lane) as usize];
        clips(model, levels, lane, area, |clip| {
            let place = clip.slice as usize;
            let parent = model.parents[place];
            let row = model.rows.get(parent as usize).map(|row| usize::from(*row));
            let above = row
                .and_then(|row| last.get(row))
                .filter(|slot| slot.0 == parent);
            let above = above.map_or(TOP, |slot| slot.1);
            let node = self.child(above, model.trace.slices.names[place].0, model.kinds[place]);
            let len = clip.span.1.saturating_sub(clip.span.0);
            if let Some(slot) = last.get_mut(usize::from(model.rows[place])) {
                *slot = (clip.slice, node);
            }
            self.add(node, len, 1);
            self.nodes[node as usize].self_time =
                self.nodes[node as usize].self_time.saturating_add(len);
            let above = &mut self.nodes[above as usize];
            above.self_time = above.self_time.saturating_sub(clip.taken);
        });
    }

    fn add(&mut self, node: u32, nanos: i64, count: u64) {
        let node = &mut self.nodes[node as usize];
        node.total = node.total.saturating_add(nanos);
        node.count += count;
    }

    /// Child of a node by name, created if missing.
    fn child(&mut self, parent: u32, name: u32, kind: TimeKind) -> u32 {
        if parent != TOP && self.nodes[parent as usize].name == JOINED {
            return parent;
        }
        if let Some(child) = self.children.get(&(parent, name)) {
            return *child;
        }
        let is_full = self.nodes.len() >= MAX_STACKS;
        if is_full && name != JOINED {
            return self.child(parent, JOINED, TimeKind::Host);
        }
        let child = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node {
            parent,
            name,
            kind,
            total: 0,
            self_time: 0,
            count: 0,
        });
        self.children.insert((parent, name), child);
        child
    }

    /// The same stacks with callers below callees: roots are the frames with self time.
    #[must_use]
    pub fn turned(&self) -> Self {
        let mut turned = Self::empty(self.model);
        for node in self.nodes.iter().skip(1) {
            if node.self_time <= 0 {
                continue;
            }
            let (mut from, mut at) = (node, TOP);
            loop {
                let next = turned.child(at, from.name, from.kind);
                if next == at {
                    break;
                }
                at = next;
                turned.add(at, node.self_time, node.count);
                if from.parent == TOP {
                    break;
                }
                from = &self.nodes[from.parent as usize];
            }
            let last = &mut turned.nodes[at as usize];
            last.self_time = last.self_time.saturating_add(node.self_time);
        }
        turned
    }

    fn name(&self, node: &Node) -> &'model str {
        if node.name == JOINED {
            JOINED_NAME
        } else {
            self.model.trace.texts.get(TextId(node.name))
        }
    }

    /// The frames with the most time, up to [`MAX_FRAMES`]; others of one parent are joined.
    pub fn answer(&self) -> FlameAnswer {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (node, number) in self.nodes.iter().zip(0_u32..).skip(1) {
            children[node.parent as usize].push(number);
        }
        for siblings in &mut children {
            siblings.sort_by_key(|child| {
                let child = &self.nodes[*child as usize];
                (Reverse(child.total), self.name(child))
            });
        }
        let is_kept = self.largest(&children);
        let mut answer = FlameAnswer::default();
        // Nodes with their depth, or the joined rest of their parent.
        let mut open = vec![(Err(TOP), 0_u32)];
        while let Some((next, depth)) = open.pop() {
            let (number, below) = match next {
                Ok(joined) => {
                    answer.cut = true;
                    answer.frames.push(self.frame(&joined, depth));
                    continue;
                }
                Err(TOP) => (TOP, 0),
                Err(number) => {
                    let node = &self.nodes[number as usize];
                    answer.frames.push(self.frame(node, depth));
                    (number, depth + 1)
                }
            };
            let siblings = &children[number as usize];
            let (kept, rest): (Vec<u32>, Vec<u32>) =
                siblings.iter().partition(|child| is_kept[**child as usize]);
            open.extend(self.joined(&rest).map(|joined| (Ok(joined), below)));
            open.extend(kept.into_iter().rev().map(|child| (Err(child), below)));
        }
        let roots = answer.frames.iter().filter(|frame| frame.depth == 0);
        answer.total_nanos = roots.fold(0, |sum, root| sum.saturating_add(root.total_nanos));
        answer
    }

    /// Joins several nodes to one.
    fn joined(&self, nodes: &[u32]) -> Option<Node> {
        let mut joined = Node {
            name: JOINED,
            kind: TimeKind::Host,
            total: 0,
            self_time: 0,
            count: 0,
            parent: TOP,
        };
        for node in nodes {
            let node = &self.nodes[*node as usize];
            joined.total = joined.total.saturating_add(node.total);
            joined.self_time = joined.total;
            joined.count += node.count;
        }
        (!nodes.is_empty()).then_some(joined)
    }

    fn frame(&self, node: &Node, depth: u32) -> FlameFrame {
        FlameFrame {
            name: self.name(node).to_owned(),
            kind: node.kind as u8,
            depth,
            total_nanos: node.total,
            self_nanos: node.self_time.max(0),
            count: node.count,
        }
    }

    /// `true` for the nodes with the most time, each below one that is kept too.
    fn largest(&self, children: &[Vec<u32>]) -> Vec<bool> {
        if self.nodes.len() <= MAX_FRAMES {
            return vec![true; self.nodes.len()];
        }
        let mut is_kept = vec![false; self.nodes.len()];
        let mut next = BinaryHeap::new();
        let add = |next: &mut BinaryHeap<_>, node: u32| {
            let below = children[node as usize].iter();
            next.extend(below.map(|child| (self.nodes[*child as usize].total, Reverse(*child))));
        };
        is_kept[TOP as usize] = true;
        add(&mut next, TOP);
        // Each kept node, and the top, may need a frame for those that are joined below it.
        for _ in 0..(MAX_FRAMES - 1) / 2 {
            let Some((_, Reverse(node))) = next.pop() else {
                break;
            };
            is_kept[node as usize] = true;
            add(&mut next, node);
        }
        is_kept
    }

    /// Writes a line for each stack: frames from the root with `;` between them, and the nanoseconds of the last one
    /// without its children.
    pub fn fold(&self, out: &mut impl fmt::Write) -> fmt::Result {
        for node in self.nodes.iter().skip(1).filter(|node| node.self_time > 0) {
            let above = |node: &&Node| {
                self.nodes
                    .get(node.parent as usize)
                    .filter(|above| above.parent != NONE)
            };
            let mut path: Vec<&Node> = std::iter::successors(Some(node), above).collect();
            path.reverse();
            for (place, frame) in path.into_iter().enumerate() {
                if place > 0 {
                    out.write_char(';')?;
                }
                for letter in self.name(frame).chars() {
                    out.write_char(match letter {
                        ';' => ',',
                        letter if letter.is_control() => ' ',
                        letter => letter,
                    })?;
                }
            }
            writeln!(out, " {}", node.self_time)?;
        }
        Ok(())
    }
}

/// Flame chart of the time between two times since the origin; with `up` callers are below callees.
pub fn flame(
    model: &Model,
    levels: &Levels,
    time: (i64, i64),
    lanes: Option<&[u32]>,
    up: bool,
) -> FlameAnswer {
    let stacks = Stacks::new(model, levels, time, lanes);
    if up {
        stacks.turned().answer()
    } else {
        stacks.answer()
    }
}
