//! A whole timeline in few cells: enough for its first picture, without any slices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_api::timeline::{
    Cell, MAX_CELLS, MAX_ROWS, RowCells, TimelineAnswer, TimelineQuery,
};
use trainscope_format::trace::TextId;

use super::Model;
use super::levels::{Joiner, Levels, Piece, bin_bits};
use super::view::{BadRows, DEFAULT_WIDTH, row_list};

/// Pixels that an outline can show: more than the page has for a timeline on most screens.
const WIDTH: u32 = 4_096;
/// Maximum number of cells, 20 bytes each in a file; larger outlines get coarser cells.
const MAX_OUTLINE_CELLS: usize = 400_000;
/// Base-2 logarithm of the coarsest bins, nanoseconds: 18 minutes.
const COARSEST_BITS: u8 = 40;

/// Cells of all rows over a whole session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Begin and end on the clock of the file, nanoseconds.
    extent: (i64, i64),
    /// Base-2 logarithm of the bins of its cells, nanoseconds.
    bits: u8,
    rows: Vec<OutlineRow>,
    /// Names of its slices by number.
    names: BTreeMap<u32, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OutlineRow {
    lane: u32,
    depth: u32,
    cells: Vec<OutlineCell>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OutlineCell {
    /// Begin on the clock of the file.
    begin: i64,
    end: i64,
    count: u32,
    /// Sum of the lengths of its slices.
    busy: u64,
    /// Number of its longest slice.
    longest: u32,
    longest_len: u64,
    name: u32,
    kind: u8,
}

impl Outline {
    /// The outline of a model; `None` if it has too many rows for coarser cells to help.
    pub fn new(model: &Model, levels: &Levels) -> Option<Self> {
        let extent = (model.extent.start, model.extent.end);
        let finest = bin_bits(extent.0, extent.1, WIDTH);
        let mut all = (finest..=COARSEST_BITS.max(finest)).map(|bits| Self {
            extent,
            bits,
            rows: rows(model, levels, extent.0, bits),
            names: BTreeMap::new(),
        });
        let is_small = |outline: &Self| {
            outline
                .rows
                .iter()
                .map(|row| row.cells.len())
                .sum::<usize>()
                <= MAX_OUTLINE_CELLS
        };
        let mut outline = all.find(is_small)?;
        let cells = outline.rows.iter().flat_map(|row| &row.cells);
        let texts = &model.trace.texts;
        outline.names = cells
            .map(|cell| (cell.name, texts.get(TextId(cell.name)).to_owned()))
            .collect();
        Some(outline)
    }

    /// The same answer as from the slices; `None` if it needs slices: for a part of the session, or for more pixels
    /// than an outline shows.
    pub fn timeline(&self, query: &TimelineQuery) -> Option<Result<TimelineAnswer, BadRows>> {
        let (origin, end) = self.extent;
        let extent = end.saturating_sub(origin);
        let (from, to) = (query.from.unwrap_or(0), query.to.unwrap_or(extent));
        let width = query.width.unwrap_or(DEFAULT_WIDTH).max(1);
        let until = origin.saturating_add(to);
        let bits = bin_bits(origin, until, width);
        if from != 0 || to < extent || bits < self.bits {
            return None;
        }
        let rows = match query.rows.as_deref().map(row_list) {
            Some(Err(error)) => return Some(Err(error)),
            Some(Ok(rows)) => rows,
            None => {
                let all = self.rows.iter().map(|row| (row.lane, row.depth));
                all.take(MAX_ROWS + 1).collect()
            }
        };
        let mut answer = TimelineAnswer {
            from_nanos: from,
            to_nanos: to,
            width,
            cut: rows.len() > MAX_ROWS,
            ..TimelineAnswer::default()
        };
        let mut room = MAX_CELLS;
        for (lane, depth) in rows.into_iter().take(MAX_ROWS) {
            let at = self
                .rows
                .binary_search_by_key(&(lane, depth), |row| (row.lane, row.depth));
            let row = at.ok().and_then(|at| self.rows.get(at));
            let row_cells = row.map_or(&[][..], |row| &row.cells);
            let mut cells = Vec::new();
            let mut joiner = Joiner::new(bits, |piece: Piece| {
                if cells.len() < room {
                    cells.extend(cell(row_cells, &piece, origin));
                } else {
                    answer.cut = true;
                }
            });
            for (position, cell) in (0..).zip(row_cells) {
                if cell.begin < until {
                    joiner.add(cell.piece(position));
                }
            }
            joiner.finish();
            room -= cells.len();
            for cell in &cells {
                let name = self.names.get(&cell.name).cloned();
                answer.names.insert(cell.name, name.unwrap_or_default());
            }
            answer.rows.push(RowCells { lane, depth, cells });
        }
        Some(Ok(answer))
    }
}

impl OutlineCell {
    const fn piece(&self, position: u32) -> Piece {
        Piece {
            first: position,
            count: self.count,
            begin: self.begin,
            end: self.end,
            longest: position,
            longest_len: self.longest_len,
            busy: self.busy,
        }
    }
}

/// A joined piece of a row as a cell of an answer.
fn cell(row: &[OutlineCell], piece: &Piece, origin: i64) -> Option<Cell> {
    let longest = row.get(piece.longest as usize)?;
    Some(Cell {
        begin: piece.begin.saturating_sub(origin),
        length: piece.end.saturating_sub(piece.begin),
        name: longest.name,
        count: piece.count,
        busy: piece.share(),
        kind: longest.kind,
        index: longest.longest,
    })
}

/// Cells of all rows, in order of lane and depth.
fn rows(model: &Model, levels: &Levels, origin: i64, bits: u8) -> Vec<OutlineRow> {
    let lanes = 0..u32::try_from(model.lanes.len()).unwrap_or(u32::MAX);
    let rows = lanes.flat_map(|lane| (0..levels.depth(lane)).map(move |depth| (lane, depth)));
    let of_row = |(lane, depth)| {
        let mut cells = Vec::new();
        let time = (origin, i64::MAX);
        levels.pieces(model, (lane, depth), time, bits, |piece| {
            let slice = piece.longest as usize;
            cells.push(OutlineCell {
                begin: piece.begin,
                end: piece.end,
                count: piece.count,
                busy: piece.busy,
                longest: model.number(piece.longest),
                longest_len: piece.longest_len,
                name: model.trace.slices.names[slice].0,
                kind: model.kinds[slice] as u8,
            });
        });
        OutlineRow { lane, depth, cells }
    };
    rows.map(of_row).collect()
}
