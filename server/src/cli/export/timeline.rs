//! The picture of a timeline: the whole session, or a part.

use trainscope_analysis::trace::{lanes, view};
use trainscope_api::timeline::{RowCells, TimelineAnswer, TimelineQuery};
use trainscope_charts::theme::Theme;
use trainscope_charts::timeline::Cell;
use trainscope_charts::timeline_svg::{self, Sheet, SheetLane};
use trainscope_format::digits;

use super::ExportFlags;
use super::pictures::encoded;
use crate::cli::CommandError;
use crate::cli::mistake::Mistake;
use crate::cli::words;
use crate::profiles::LoadedProfile;

/// Maximum number of rows of a picture: more would be too high for a PNG.
const MAX_ROWS: u32 = 300;
/// Number of cells of a row: as many as a PNG has pixels for them.
const CELLS: u32 = 2_000;

/// The timeline of a profile between two times as SVG, or as PNG.
pub(super) fn picture(
    flags: &ExportFlags,
    title: &str,
    profile: &LoadedProfile,
    (from, to): (i64, i64),
) -> Result<Vec<u8>, CommandError> {
    if from >= to {
        return Err(Mistake::new(2, "no time is in that range")
            .at(format!("--from {from}ns --until {to}ns"))
            .attempt(format!("--from {to}ns --until {from}ns"))
            .into());
    }
    let sheet = sheet(title, profile, (from, to));
    let theme = if flags.dark {
        Theme::dark()
    } else {
        Theme::light()
    };
    let svg = timeline_svg::svg(&sheet, &theme);
    let too_large = || {
        Mistake::new(2, "the picture is too large for a PNG")
            .at("--kind timeline --format png")
            .attempt("--format svg")
    };
    Ok(encoded(flags, svg, too_large)?)
}

fn sheet(title: &str, profile: &LoadedProfile, (from, to): (i64, i64)) -> Sheet {
    let (model, levels) = (&profile.model, profile.levels());
    let head = lanes::lanes(model, levels);
    let shown = || head.groups.iter().filter(|group| !group.folded);
    // Rows of the picture in order: index of the lane and depth.
    let mut rows: Vec<(u32, u32)> = Vec::new();
    let mut left_out = 0_u64;
    for lane in shown().flat_map(|group| &group.lanes) {
        for depth in 0..lane.rows {
            if rows.len() < MAX_ROWS as usize {
                rows.push((lane.lane, depth));
            } else {
                left_out += 1;
            }
        }
    }
    let of_row = |(lane, depth): &(u32, u32)| format!("{lane}:{depth}");
    let query = TimelineQuery {
        from: Some(from),
        to: Some(to),
        width: Some(CELLS),
        rows: Some(rows.iter().map(of_row).collect::<Vec<_>>().join(",")),
        ..TimelineQuery::default()
    };
    // The query is valid: its rows were written above.
    let answer = view::timeline(model, levels, &query).unwrap_or_default();
    let groups = shown().map(|group| {
        let lanes = group.lanes.iter().map(|lane| {
            let of_lane = answer.rows.iter().filter(|row| row.lane == lane.lane);
            SheetLane {
                name: lane.name.clone(),
                rows: of_lane.map(|row| cells(&answer, row)).collect(),
            }
        });
        let lanes = lanes.filter(|lane| !lane.rows.is_empty()).collect();
        (group.name.clone(), lanes)
    });
    let groups = groups.filter(|(_, lanes): &(String, Vec<SheetLane>)| !lanes.is_empty());
    let steps = head.steps.iter();
    let steps = steps.filter(|step| step.end_nanos > from && step.begin_nanos < to);
    let mut notes = Vec::new();
    if left_out > 0 {
        let rows = words::plural(left_out, "row is", "rows are");
        notes.push(format!("{rows} not in this picture"));
    } else if answer.cut || head.cut {
        notes.push("not everything fits into this picture".to_owned());
    }
    let folded = head.groups.iter().filter(|group| group.folded);
    let folded = folded.filter(|group| !group.lanes.is_empty());
    notes.extend(folded.map(|group| match &*group.kind {
        "profiler" => "without the lanes of the profiler itself".to_owned(),
        _ => "without lanes that the writer derived from others".to_owned(),
    }));
    Sheet {
        title: format!(
            "{title} · {} · rank {} · {} to {}",
            profile.session(),
            profile.rank(),
            since(from),
            since(to)
        ),
        time: (from, to),
        groups: groups.collect(),
        steps: steps
            .map(|step| (step.number, step.begin_nanos, step.end_nanos))
            .collect(),
        note: notes.join("; "),
    }
}

/// A time since the start of the session.
fn since(nanos: i64) -> String {
    let sign = if nanos < 0 { "−" } else { "" };
    format!("{sign}{}", digits::nanos(nanos.unsigned_abs()))
}

/// Cells of a row with the names of single slices.
fn cells(answer: &TimelineAnswer, row: &RowCells) -> Vec<(Cell, String)> {
    let cells = row.cells.iter().map(|source| {
        let cell = Cell {
            begin: source.begin,
            length: source.length,
            kind: source.kind,
            busy: source.busy,
            is_merged: source.count > 1,
        };
        let name = answer.names.get(&source.name).filter(|_| source.count == 1);
        (cell, name.cloned().unwrap_or_default())
    });
    cells.collect()
}
