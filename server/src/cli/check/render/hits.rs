//! The table of hits: by step, in the order of data flow.

use std::io::{self, Write};

use trainscope_analysis::watchpoint::Hit;
use trainscope_format::Severity;
use trainscope_format::digits::non_finite;

use super::phrases::word;
use super::screen::Screen;
use crate::cli::style::{QUIET, STRONG};
use crate::cli::table::{Column, Table, styled};
use crate::cli::words;
use crate::judging::judge::Judgement;

/// Maximum number of lines of one watchpoint at one step, without `--all`.
const MAX_LINES: usize = 4;
/// Maximum number of lines of one watchpoint over all steps, without `--all`.
const MAX_LINES_ALL_STEPS: usize = 8;
/// Maximum number of lines of the table, without `--all`: fits on a screen with the rest.
const MAX_TABLE: usize = 24;
/// Width below which severities are abbreviated.
const NARROW: usize = 100;

/// A line of the table.
struct Row<'a> {
    hit: &'a Hit,
    is_first: bool,
    tensor: String,
    found: String,
    limit: String,
}

pub(super) fn write(
    run: &Judgement,
    screen: Screen,
    shows_all: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (rows, left_out) = rows(run, screen, shows_all);
    let is_narrow = screen.prose < NARROW && screen.columns.is_some();
    let has_ranks = run.ranks > 1;
    let mut table = Table::new([
        Column::left(""),
        Column::right("STEP").at_least(4),
        Column::right(if has_ranks { "RANK" } else { "" }),
        Column::left(""),
        Column::left("WATCHPOINT"),
        Column::left("TENSOR, IN DATA-FLOW ORDER"),
        Column::right("FOUND"),
        Column::right("LIMIT"),
    ])
    .shrink(5, screen.columns);
    let mut last = None;
    for row in rows {
        let step = if last == Some(row.hit.step) {
            String::new()
        } else {
            words::step(row.hit.step)
        };
        last = Some(row.hit.step);
        let (severity, style) = word(row.hit.severity);
        let severity = match severity {
            "error" if is_narrow => "err",
            "warning" if is_narrow => "warn",
            word => word,
        };
        let rank = has_ranks.then(|| row.hit.rank.to_string());
        table.row([
            styled(STRONG, if row.is_first { ">" } else { "" }),
            step.into(),
            rank.unwrap_or_default().into(),
            styled(style, severity),
            row.hit.condition.id.into(),
            row.tensor.into(),
            styled(style, row.found),
            row.limit.into(),
        ]);
    }
    table.write(out)?;
    if left_out > 0 {
        let more = words::plural(left_out as u64, "more hit", "more hits");
        writeln!(out, "   {QUIET}{more}: --all{QUIET:#}")?;
    }
    Ok(())
}

/// Lines of the table, and the number of hits left out. The first cause is always included.
fn rows(run: &Judgement, screen: Screen, shows_all: bool) -> (Vec<Row<'_>>, usize) {
    let hits = &run.findings.hits;
    let first = run.findings.first_cause.as_ref().map(|cause| cause.hit);
    let mut kept: Vec<usize> = Vec::new();
    for (number, hit) in hits.iter().enumerate() {
        let alike = |same_step: bool| {
            let same = |&&at: &&usize| {
                hits[at].watchpoint == hit.watchpoint && (!same_step || hits[at].step == hit.step)
            };
            kept.iter().filter(same).count()
        };
        let fits = alike(true) < MAX_LINES && alike(false) < MAX_LINES_ALL_STEPS;
        if shows_all || Some(number) == first || fits {
            kept.push(number);
        }
    }
    if !shows_all && kept.len() > MAX_TABLE {
        // Notes are dropped first, then the latest hits.
        for least in [Severity::Info, Severity::Warning, Severity::Error] {
            while kept.len() > MAX_TABLE {
                let drop =
                    |&number: &usize| hits[number].severity == least && Some(number) != first;
                match kept.iter().rposition(drop) {
                    Some(at) => drop_at(&mut kept, at),
                    None => break,
                }
            }
        }
    }
    let left_out = hits.len() - kept.len();
    let rows = kept.into_iter().map(|number| {
        let hit = &hits[number];
        let (found, limit) = measured(hit);
        Row {
            hit,
            is_first: Some(number) == first,
            tensor: screen.signs(&words::name(&hit.tensor, None)),
            found: screen.signs(&found),
            limit: screen.signs(&limit),
        }
    });
    (rows.collect(), left_out)
}

fn drop_at(kept: &mut Vec<usize>, at: usize) {
    kept.remove(at);
}

/// Measured value and limit, of the first limit exceeded.
fn measured(hit: &Hit) -> (String, String) {
    let first = hit.measures().into_iter().next();
    first.map_or_else(Default::default, |measure| {
        (measure.found.en, measure.threshold)
    })
}

/// A number with enough digits, suitable for pasting.
pub(in crate::cli) fn number(value: f64) -> String {
    if let Some(name) = non_finite(value) {
        return name.to_owned();
    }
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if value.fract() == 0.0 && size < 1e12 {
        format!("{value}")
    } else if (1e-3..1e6).contains(&size) {
        let digits = if size >= 100.0 { 1 } else { 4 };
        let text = format!("{value:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        let text = format!("{value:.1e}");
        // `1.4e-5` in the usual notation, `1.4e-05`.
        match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let (sign, digits) = match exponent.strip_prefix('-') {
                    Some(digits) => ('-', digits),
                    None => ('+', exponent),
                };
                format!("{mantissa}e{sign}{digits:0>2}")
            }
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_can_be_pasted() {
        for (value, text) in [
            (0.0, "0"),
            (-3.0, "-3"),
            (0.25, "0.25"),
            (26_348_466_733.0, "26348466733"),
            (26_348_466_733_056.0, "2.6e+13"),
            (1234.567, "1234.6"),
            (1.4e-5, "1.4e-05"),
            (-2.5e30, "-2.5e+30"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
