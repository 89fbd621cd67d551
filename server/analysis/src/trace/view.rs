//! Cells of rows for a stretch of time, within the limits of one answer.

use trainscope_api::timeline::{MAX_CELLS, MAX_ROWS, RowCells, TimelineAnswer, TimelineQuery};
use trainscope_format::trace::TextId;

use super::Model;
use super::levels::Levels;

/// Pixels of an answer by default.
pub const DEFAULT_WIDTH: u32 = 1_600;

/// Rows of a query that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows are written as lane:depth with commas between them, and `{0}` is none")]
pub struct BadRows(String);

/// Numbers in a text, separated by commas.
pub fn lane_list(text: &str) -> Result<Vec<u32>, BadLanes> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts
        .map(|part| part.parse().map_err(|_| BadLanes(part.to_owned())))
        .collect()
}

/// Lanes of a query that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lanes are numbers with commas between them, and `{0}` is none")]
pub struct BadLanes(String);

/// Cells of the rows of a query. Names of the run, session and rank are not looked at.
pub fn timeline(
    model: &Model,
    levels: &Levels,
    query: &TimelineQuery,
) -> Result<TimelineAnswer, BadRows> {
    let extent = model.extent.end.saturating_sub(model.extent.start);
    let mut answer = TimelineAnswer {
        from_nanos: query.from.unwrap_or(0),
        to_nanos: query.to.unwrap_or(extent),
        width: query.width.unwrap_or(DEFAULT_WIDTH).max(1),
        ..TimelineAnswer::default()
    };
    let mut rows = match &query.rows {
        Some(text) => row_list(text)?,
        None => all_rows(levels, model.lanes.len()),
    };
    answer.cut = rows.len() > MAX_ROWS;
    rows.truncate(MAX_ROWS);
    let mut room = MAX_CELLS;
    for (lane, depth) in rows {
        let time = (answer.from_nanos, answer.to_nanos);
        let (cells, is_whole) = levels.cells(model, (lane, depth), time, answer.width, room);
        room -= cells.len();
        answer.cut |= !is_whole;
        for cell in &cells {
            answer
                .names
                .entry(cell.name)
                .or_insert_with(|| model.trace.texts.get(TextId(cell.name)).to_owned());
        }
        answer.rows.push(RowCells { lane, depth, cells });
    }
    Ok(answer)
}

pub(super) fn row_list(text: &str) -> Result<Vec<(u32, u32)>, BadRows> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let row = |part: &str| {
        let (lane, depth) = part.split_once(':')?;
        Some((lane.parse().ok()?, depth.parse().ok()?))
    };
    // One more than the limit tells that rows were left out.
    parts
        .take(MAX_ROWS + 1)
        .map(|part| row(part).ok_or_else(|| BadRows(part.to_owned())))
        .collect()
}

fn all_rows(levels: &Levels, lanes: usize) -> Vec<(u32, u32)> {
    let lanes = 0..u32::try_from(lanes).unwrap_or(u32::MAX);
    lanes
        .flat_map(|lane| (0..levels.depth(lane)).map(move |depth| (lane, depth)))
        .take(MAX_ROWS + 1)
        .collect()
}
