//! Levels of detail of the rows of a trace: cells of the size of pixels for any number of slices.

use std::ops::Range;

use trainscope_api::timeline::Cell;

use super::Model;

/// Base-2 logarithm of the bins of the finest level, nanoseconds: about 1 µs.
const FINEST_BITS: u8 = 10;
/// Base-2 logarithm of the ratio of the bins of two levels.
const STEP_BITS: u8 = 2;
/// Base-2 logarithm of the longest bin, nanoseconds: 146 years.
const MAX_BITS: u8 = 62;
/// A level is kept if it has at most this share of the cells of the one below: it saves 30 %.
const MAX_SHARE: f64 = 0.7;
/// Rows with fewer cells need no further level: merging them takes less than a microsecond.
const MIN_CELLS: usize = 64;
/// Busy times of cells have this many bits.
const BUSY_BITS: u8 = 32;

/// Slices of each row in order of time, and the levels of the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Slices, row by row.
    order: Vec<u32>,
    /// Rows of all lanes.
    rows: Vec<Row>,
    /// First row of each lane, and the number of rows.
    lane_rows: Vec<u32>,
    /// Levels of all rows.
    scales: Vec<Level>,
    /// Cells of all levels.
    cells: Vec<LevelCell>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    /// Positions in [`Levels::order`].
    slices: Range<u32>,
    /// Levels, the finest first.
    levels: Range<u32>,
    /// Longest slice of a row whose slices overlap, else 0. Only the deepest possible row has such slices.
    reach: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    /// Base-2 logarithm of its bins.
    bits: u8,
    /// Cells, which divide the slices of the row.
    cells: Range<u32>,
}

/// Slices of a row that begin within one bin and are shorter than it, or one longer slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LevelCell {
    /// Position of the first slice; the last one is before that of the next cell.
    first: u32,
    /// The longest slice.
    longest: u32,
    /// Sum of lengths in the unit of its level, rounded up.
    busy: u32,
}

/// A stretch of positions that is counted as one.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) longest: u32,
    pub(super) longest_len: u64,
    pub(super) busy: u64,
}

impl Piece {
    fn is_short(&self, bits: u8) -> bool {
        self.longest_len < 1 << bits
    }

    /// `true` if both are one cell of a level with these bins.
    fn joins(&self, other: &Self, bits: u8) -> bool {
        (self.begin ^ other.begin) >> bits == 0 && self.is_short(bits) && other.is_short(bits)
    }

    /// Share of its length that slices cover, in 1/255.
    pub(super) fn share(&self) -> u8 {
        let length = self.end.saturating_sub(self.begin);
        if self.count == 1 || length == 0 {
            return u8::MAX;
        }
        share_of_255(self.busy as f64 / length as f64)
    }

    fn join(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.end = self.end.max(other.end);
        self.busy = self.busy.saturating_add(other.busy);
        if other.longest_len > self.longest_len {
            (self.longest, self.longest_len) = (other.longest, other.longest_len);
        }
    }
}

/// Joins pieces in order to cells of one size.
pub(super) struct Joiner<F: FnMut(Piece)> {
    bits: u8,
    open: Option<Piece>,
    out: F,
}

impl<F: FnMut(Piece)> Joiner<F> {
    pub(super) fn new(bits: u8, out: F) -> Self {
        Self {
            bits,
            open: None,
            out,
        }
    }

    pub(super) fn add(&mut self, piece: Piece) {
        match &mut self.open {
            Some(open) if open.joins(&piece, self.bits) => open.join(&piece),
            open => {
                if let Some(whole) = open.replace(piece) {
                    (self.out)(whole);
                }
            }
        }
    }

    pub(super) fn finish(mut self) {
        if let Some(whole) = self.open.take() {
            (self.out)(whole);
        }
    }
}

/// Bits by which busy times are shifted in levels of these bins. Slices of a cell begin within a bin, are shorter than
/// it and do not overlap: their sum is less than two bins.
const fn busy_shift(bits: u8) -> u8 {
    (bits + 1).saturating_sub(BUSY_BITS)
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Bits of the bins in which two neighbours become one cell.
fn joining_bits(model: &Model, left: u32, right: u32) -> u32 {
    let slices = &model.trace.slices;
    let (left, right) = (left as usize, right as usize);
    let apart = (slices.begins[left] ^ slices.begins[right]).cast_unsigned();
    let longest = slices.durations[left].max(slices.durations[right]);
    u64::BITS - (apart | longest).leading_zeros()
}

impl Levels {
    /// Orders the slices of each row and makes its levels.
    pub fn new(model: &Model) -> Self {
        let mut levels = Self {
            order: Vec::with_capacity(model.trace.slices.len()),
            ..Self::default()
        };
        for lane in 0..model.lanes.len() {
            levels.lane_rows.push(number(levels.rows.len()));
            levels.add_rows(model, lane);
        }
        levels.lane_rows.push(number(levels.rows.len()));
        for row in 0..levels.rows.len() {
            levels.add_levels(model, row);
        }
        levels.cells.shrink_to_fit();
        levels
    }

    /// Orders the slices of a lane by row; within a row they keep their order.
    fn add_rows(&mut self, model: &Model, lane: usize) {
        let lane = &model.lanes[lane];
        let mut ends = vec![0_u32; usize::from(lane.rows)];
        for slice in lane.slices.clone() {
            if let Some(end) = ends.get_mut(usize::from(model.rows[slice as usize])) {
                *end += 1;
            }
        }
        let mut next = number(self.order.len());
        for end in &mut ends {
            let first = next;
            next += *end;
            *end = first;
            self.rows.push(Row {
                slices: first..next,
                ..Row::default()
            });
        }
        self.order.resize(next as usize, 0);
        for slice in lane.slices.clone() {
            if let Some(slot) = ends.get_mut(usize::from(model.rows[slice as usize])) {
                self.order[*slot as usize] = slice;
                *slot += 1;
            }
        }
    }

    fn add_levels(&mut self, model: &Model, row: usize) {
        let first_level = number(self.scales.len());
        let positions = self.rows[row].slices.clone();
        let order = &self.order[positions.start as usize..positions.end as usize];
        let slices = &model.trace.slices;
        // Number of neighbours by the bins in which they become one cell.
        let mut joining = [0_usize; u64::BITS as usize + 1];
        let mut overlap = false;
        for pair in order.windows(2) {
            joining[joining_bits(model, pair[0], pair[1]) as usize] += 1;
            overlap |= slices.end(pair[0] as usize) > slices.begins[pair[1] as usize];
        }
        if overlap {
            let longest = order.iter().map(|slice| slices.durations[*slice as usize]);
            self.rows[row].reach = longest.max().unwrap_or_default();
        } else {
            let (mut apart, mut last, mut below) = (order.len(), order.len(), 0);
            for bits in (FINEST_BITS..=MAX_BITS).step_by(usize::from(STEP_BITS)) {
                let joined = &joining[below..=usize::from(bits)];
                apart -= joined.iter().sum::<usize>();
                below = usize::from(bits) + 1;
                if last < MIN_CELLS {
                    break;
                }
                if apart as f64 <= last as f64 * MAX_SHARE {
                    self.add_level(model, row, first_level, bits);
                    last = apart;
                }
            }
        }
        self.rows[row].levels = first_level..number(self.scales.len());
    }

    /// Makes a level from the last one of the row.
    fn add_level(&mut self, model: &Model, row: usize, first_level: u32, bits: u8) {
        let below = self.scales[first_level as usize..].last().cloned();
        let from = number(self.cells.len());
        let shift = busy_shift(bits);
        let mut made = Vec::new();
        let mut joiner = Joiner::new(bits, |piece: Piece| {
            made.push(LevelCell {
                first: piece.first,
                longest: piece.longest,
                busy: u32::try_from(piece.busy.div_ceil(1 << shift)).unwrap_or(u32::MAX),
            });
        });
        let row = &self.rows[row];
        match below {
            None => {
                for position in row.slices.clone() {
                    joiner.add(self.slice_piece(model, position));
                }
            }
            Some(below) => {
                for cell in below.cells.clone() {
                    joiner.add(self.cell_piece(model, row, &below, cell));
                }
            }
        }
        joiner.finish();
        self.cells.append(&mut made);
        self.scales.push(Level {
            bits,
            cells: from..number(self.cells.len()),
        });
    }

    fn slice_piece(&self, model: &Model, position: u32) -> Piece {
        let slice = self.order[position as usize];
        let (begin, end) = model.span(slice);
        let len = model.trace.slices.durations[slice as usize];
        Piece {
            first: position,
            count: 1,
            begin,
            end,
            longest: slice,
            longest_len: len,
            busy: len,
        }
    }

    /// Position of the first slice of a cell, or the end of the row behind its last one.
    fn first_of(&self, row: &Row, level: &Level, cell: u32) -> u32 {
        if cell < level.cells.end {
            self.cells[cell as usize].first
        } else {
            row.slices.end
        }
    }

    fn cell_piece(&self, model: &Model, row: &Row, level: &Level, cell: u32) -> Piece {
        let level_cell = self.cells[cell as usize];
        let behind = self.first_of(row, level, cell + 1);
        if behind - level_cell.first == 1 {
            return self.slice_piece(model, level_cell.first);
        }
        let first = self.order[level_cell.first as usize];
        let last = self.order[behind as usize - 1];
        Piece {
            first: level_cell.first,
            count: behind - level_cell.first,
            begin: model.trace.slices.begins[first as usize],
            end: model.trace.slices.end(last as usize),
            longest: level_cell.longest,
            longest_len: model.trace.slices.durations[level_cell.longest as usize],
            busy: u64::from(level_cell.busy) << busy_shift(level.bits),
        }
    }

    fn get(&self, lane: u32, depth: u32) -> Option<&Row> {
        let lane = lane as usize;
        let first = *self.lane_rows.get(lane)?;
        let behind = *self.lane_rows.get(lane + 1)?;
        let row = first.checked_add(depth).filter(|row| *row < behind)?;
        self.rows.get(row as usize)
    }

    /// Number of rows of a lane.
    pub fn depth(&self, lane: u32) -> u32 {
        let rows = self.lane_rows.get(lane as usize..lane as usize + 2);
        rows.map_or(0, |rows| rows[1] - rows[0])
    }

    /// Slices of a row in order of time; empty if the row is missing.
    pub fn row(&self, lane: u32, depth: u32) -> &[u32] {
        let row = self.get(lane, depth).map(|row| row.slices.clone());
        let row = row.unwrap_or_default();
        &self.order[row.start as usize..row.end as usize]
    }

    /// Positions of a row that may touch the time between two times of the file's clock: all that do, and others only
    /// in a row whose slices overlap.
    fn near(&self, model: &Model, row: &Row, from: i64, to: i64) -> Range<u32> {
        let begins = &model.trace.slices.begins;
        let order = &self.order[row.slices.start as usize..row.slices.end as usize];
        let early = from.saturating_sub_unsigned(row.reach);
        let mut first = order.partition_point(|slice| begins[*slice as usize] < early);
        let before = first.checked_sub(1).and_then(|before| order.get(before));
        if before.is_some_and(|before| model.span(*before).1 > from) {
            first -= 1;
        }
        let behind = order.partition_point(|slice| begins[*slice as usize] < to);
        row.slices.start + number(first)..row.slices.start + number(behind.max(first))
    }

    /// Slices of a lane that begin before a time of the file's clock and end after it, in order.
    pub fn open_at(&self, model: &Model, lane: u32, time: i64) -> Vec<u32> {
        let mut open = Vec::new();
        for depth in 0..self.depth(lane) {
            let Some(row) = self.get(lane, depth) else {
                continue;
            };
            let near = self.near(model, row, time, time);
            let near = &self.order[near.start as usize..near.end as usize];
            open.extend(near.iter().filter(|slice| model.span(**slice).1 > time));
        }
        open.sort_unstable();
        open
    }

    /// Cells of a row for the time between two times since the origin, shown by `width` pixels. Each slice that touches
    /// that time is counted in one of them, and cells are shorter than two pixels or single slices. Stops after `limit`
    /// cells and returns `false` with them.
    pub fn cells(
        &self,
        model: &Model,
        (lane, depth): (u32, u32),
        (from, to): (i64, i64),
        width: u32,
        limit: usize,
    ) -> (Vec<Cell>, bool) {
        let mut cells = Vec::new();
        let mut is_whole = true;
        let origin = model.origin();
        let (from, to) = (origin.saturating_add(from), origin.saturating_add(to));
        let bits = bin_bits(from, to, width);
        self.pieces(model, (lane, depth), (from, to), bits, |piece| {
            if cells.len() < limit {
                cells.push(cell(model, &piece));
            } else {
                is_whole = false;
            }
        });
        (cells, is_whole)
    }

    /// Pieces of a row for the time between two times of the file's clock: slices that begin within one bin of this
    /// size are one.
    pub(super) fn pieces(
        &self,
        model: &Model,
        (lane, depth): (u32, u32),
        (from, to): (i64, i64),
        bits: u8,
        out: impl FnMut(Piece),
    ) {
        let Some(row) = self.get(lane, depth) else {
            return;
        };
        let levels = &self.scales[row.levels.start as usize..row.levels.end as usize];
        let levels = &levels[..levels.partition_point(|level| level.bits <= bits)];
        let mut joiner = Joiner::new(bits, out);
        let near = self.near(model, row, from, to);
        if row.reach == 0 {
            self.walk(model, row, levels, near, &mut |piece| joiner.add(piece));
        } else {
            let near = near.map(|position| self.slice_piece(model, position));
            near.filter(|piece| piece.end > from || piece.begin >= from)
                .for_each(|piece| joiner.add(piece));
        }
        joiner.finish();
    }

    /// Divides positions into the coarsest cells of `levels` that are whole within them.
    fn walk(
        &self,
        model: &Model,
        row: &Row,
        levels: &[Level],
        range: Range<u32>,
        out: &mut impl FnMut(Piece),
    ) {
        if range.is_empty() {
            return;
        }
        let Some((level, finer)) = levels.split_last() else {
            range.for_each(|position| out(self.slice_piece(model, position)));
            return;
        };
        let cells = &self.cells[level.cells.start as usize..level.cells.end as usize];
        let first = level.cells.start + number(cells.partition_point(|c| c.first < range.start));
        let mut behind =
            level.cells.start + number(cells.partition_point(|c| c.first <= range.end));
        // The last cell that begins by the end of the range is behind it, unless the range ends the row.
        if range.end < row.slices.end {
            behind -= 1;
        }
        if first >= behind {
            self.walk(model, row, finer, range, out);
            return;
        }
        let from = self.first_of(row, level, first);
        let to = self.first_of(row, level, behind);
        self.walk(model, row, finer, range.start..from, out);
        for cell in first..behind {
            out(self.cell_piece(model, row, level, cell));
        }
        self.walk(model, row, finer, to..range.end, out);
    }
}

/// Base-2 logarithm of the bins for the time between two times, shown by `width` pixels.
pub(super) fn bin_bits(from: i64, to: i64, width: u32) -> u8 {
    let span = to.saturating_sub(from).max(1).cast_unsigned();
    let pixel = (span / u64::from(width.max(1))).max(1);
    u8::try_from(pixel.ilog2())
        .unwrap_or(MAX_BITS)
        .min(MAX_BITS)
}

fn cell(model: &Model, piece: &Piece) -> Cell {
    let slice = piece.longest as usize;
    Cell {
        begin: piece.begin.saturating_sub(model.origin()),
        length: piece.end.saturating_sub(piece.begin),
        name: model.trace.slices.names[slice].0,
        count: piece.count,
        busy: piece.share(),
        kind: model.kinds[slice] as u8,
        index: model.number(piece.longest),
    }
}

/// A share in 1/255, rounded up: only an empty share is 0.
pub(super) fn share_of_255(share: f64) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 255, and NaN becomes 0"
    )]
    let share = (share.clamp(0.0, 1.0) * f64::from(u8::MAX)).ceil() as u8;
    share
}
