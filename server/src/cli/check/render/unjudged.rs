//! Values that could not be judged, with reason and remedy: never silently passed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use trainscope_analysis::watchpoint::{Findings, Missing};

use super::phrases::{TextOptions, block};
use crate::cli::style::STRONG;
use crate::cli::table::{Column, Table};
use crate::cli::words;

/// Maximum number of lines, without `--all`.
const MAX_LINES: usize = 4;

pub(super) fn write(
    findings: &Findings,
    watchpoints: u64,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut by_reason: BTreeMap<(&str, Missing), Vec<&str>> = BTreeMap::new();
    for item in &findings.inconclusive {
        let key = (item.condition.id, item.reason);
        by_reason.entry(key).or_default().push(&item.tensor);
    }
    let conditions: std::collections::BTreeSet<&str> =
        by_reason.keys().map(|(condition, _)| *condition).collect();
    let head = format!(
        "{} of {}, in part or not at all; neither passed nor hit",
        conditions.len(),
        words::plural(watchpoints, "watchpoint", "watchpoints")
    );
    block(out, options.screen, "Not judged", &[(&head, false)])?;
    let limit = if options.shows_all {
        usize::MAX
    } else {
        MAX_LINES
    };
    let mut table = unheaded();
    for ((condition, reason), tensors) in by_reason.iter().take(limit) {
        let mut distinct = tensors.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let subject = match &distinct[..] {
            [""] => "the run".to_owned(),
            [tensor] => words::name(tensor, options.screen.columns.map(|_| 32)),
            many => words::plural(many.len() as u64, "tensor", "tensors"),
        };
        table.row([
            "?".into(),
            (*condition).into(),
            subject.into(),
            reason.words().en.into(),
        ]);
    }
    table.write(out)?;
    if by_reason.len() > limit {
        let more = (by_reason.len() - limit) as u64;
        writeln!(out, "       {}: --all", words::plural(more, "more", "more"))?;
    }
    let mut advice: Vec<(&str, &str)> = by_reason
        .keys()
        .filter_map(|(_, reason)| recorded_by(*reason))
        .collect();
    advice.sort_unstable();
    advice.dedup();
    if !advice.is_empty() {
        let (python, rust): (Vec<&str>, Vec<&str>) = advice.into_iter().unzip();
        let python = format!("trainscope.start(folder, {})", python.join(", "));
        let rust = format!("SamplePolicy::every(1){}", rust.concat());
        writeln!(out, "  {STRONG}{:<11}{STRONG:#}  {python}", "Record it")?;
        writeln!(out, "  {:<11}  in Rust: {rust}", "")?;
    }
    writeln!(out)
}

/// Tensors of unsupported element types, by type.
pub(super) fn tensors(
    findings: &Findings,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut by_type: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tensor in &findings.unread {
        by_type
            .entry(&tensor.dtype)
            .or_default()
            .push(&tensor.tensor);
    }
    let head = format!(
        "{} of unsupported element types",
        words::plural(findings.unread.len() as u64, "tensor", "tensors")
    );
    block(out, options.screen, "Not judged", &[(&head, false)])?;
    let mut table = unheaded();
    for (dtype, tensors) in by_type {
        let first = tensors.first().copied().unwrap_or_default();
        let first = words::name(first, options.screen.columns.map(|_| 48));
        let more = match tensors.len() - 1 {
            0 => String::new(),
            more => format!(" and {} more", words::count(more as u64)),
        };
        let subject = format!("{first}{more}");
        table.row(["?".into(), dtype.into(), subject.into(), "".into()]);
    }
    table.write(out)?;
    writeln!(out)
}

/// A table without heads.
fn unheaded() -> Table {
    Table::new(vec![Column::left(""); 4]).indent(4)
}

/// Setting of the collector that records the missing data.
fn recorded_by(reason: Missing) -> Option<(&'static str, &'static str)> {
    match reason {
        Missing::NoChange => Some(("change=True", ".change()")),
        Missing::NoExponents => Some(("exponents=True", ".exponents(true)")),
        Missing::NoHash => Some(("hash=True", ".hash(true)")),
        Missing::NoChannels => Some((
            "channels={\"activation\": 1}",
            ".channels(Role::Activation, 1)",
        )),
        _ => None,
    }
}
