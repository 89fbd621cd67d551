//! `--explain` and `--list-conditions`: the catalogue as text, the same words as on the page.

use std::io::{self, Write};

use trainscope_analysis::watchpoint::CONDITIONS;
use trainscope_analysis::watchpoint::catalogue::{self, Condition, Need, Parameter, Target};
use trainscope_analysis::watchpoint::config::name_of;

use super::render::hits::number;
use super::render::screen::{Screen, wrap};
use super::render::text::word;
use crate::cli::mistake::Mistake;
use crate::cli::style::STRONG;
use crate::cli::table::{Column, Table, styled};
use crate::cli::words;
use crate::suggest::similar;

/// Columns at which the texts of parameters are wrapped.
const TEXT_WIDTH: usize = 60;

/// Finds a condition by its id; the error suggests a similar one.
pub(super) fn find(id: &str) -> Result<&'static Condition, Mistake> {
    catalogue::find(id).ok_or_else(|| {
        let likely = similar(id, &mut CONDITIONS.iter().map(|condition| condition.id));
        let all = "trainscope check --list-conditions";
        Mistake::new(
            2,
            format!("there is no condition {}", words::name(id, None)),
        )
        .at(format!("--explain {}", words::name(id, None)))
        .attempt(match likely {
            Some(likely) => format!("{likely}; all of them: {all}"),
            None => all.to_owned(),
        })
    })
}

/// Prints all texts of a condition.
pub(super) fn explain(
    condition: &Condition,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (severity, style) = word(condition.severity);
    let target = match condition.target {
        Target::Tensor => "any tensor",
        Target::Weight => "weights",
        Target::Gradient => "gradients",
        Target::Activation => "activations",
        Target::Scalar => "scalars",
        Target::Run => "the run as a whole",
        Target::Profile => "profiles",
    };
    writeln!(
        out,
        "{STRONG}{}{STRONG:#}  {style}{severity}{style:#}, for {target}",
        condition.id
    )?;
    for (head, text) in [
        ("What it checks", condition.en.checks),
        ("Why it matters", condition.en.matters),
    ] {
        part(out, screen, head, text)?;
    }
    parameters(condition, screen, out)?;
    for (head, text) in [
        ("Not judged when", condition.en.not_judged),
        ("What to do", condition.en.advice),
    ] {
        part(out, screen, head, text)?;
    }
    writeln!(out, "\n{STRONG}In a watchpoint file{STRONG:#}")?;
    writeln!(out, "  [[watchpoint]]\n  condition = \"{}\"", condition.id)?;
    for parameter in condition.parameters {
        match preset_of(condition, parameter) {
            Some(default) => writeln!(out, "  {} = {}", parameter.name, value(parameter, default))?,
            None if parameter.is_limit => {
                writeln!(out, "  # {} = {}", parameter.name, parameter.range.words())?;
            }
            None => {}
        }
    }
    Ok(())
}

fn part(out: &mut dyn Write, screen: Screen, head: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{STRONG}{head}{STRONG:#}")?;
    for line in screen.wrap(text, 2) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}

fn parameters(condition: &Condition, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let shared = [
        ("warmup", condition.warmup, 0),
        ("patience", condition.patience, 1),
        ("cooldown", condition.cooldown, 0),
    ];
    let mut table = Table::new([
        Column::left("PARAMETER"),
        Column::left(""),
        Column::right("DEFAULT"),
        Column::left("ALLOWED"),
    ])
    .indent(2);
    let written = |parameter, of: Option<f64>| {
        of.map_or_else(|| "off".to_owned(), |number| value(parameter, number))
    };
    for parameter in condition.parameters {
        let preset = preset_of(condition, parameter);
        let mut text = parameter.text.en.to_owned();
        if preset != parameter.default {
            let left_out = written(parameter, parameter.default);
            text = format!("{text} ({left_out} in a file that leaves it out)");
        }
        let mut lines = wrap(&screen.signs(&text), TEXT_WIDTH).into_iter();
        table.row([
            parameter.name.as_str().into(),
            lines.next().unwrap_or_default().into(),
            written(parameter, preset).into(),
            parameter.range.signs().into(),
        ]);
        for line in lines {
            table.row(["".into(), line.into(), "".into(), "".into()]);
        }
    }
    for (name, count, least) in shared {
        let text = match name {
            "warmup" => "first observations, not judged",
            "patience" => "times in a row that it has to hold",
            _ => "observations after a hit, not reported",
        };
        let (count, allowed) = (count.to_string(), format!(">= {least}"));
        table.row([name.into(), text.into(), count.into(), allowed.into()]);
    }
    let severity = name_of(condition.severity);
    table.row([
        "severity".into(),
        "error, warning or info".into(),
        severity.into(),
        "".into(),
    ]);
    writeln!(out)?;
    table.write(out)
}

/// Formats a value as in a watchpoints file.
fn value(parameter: &Parameter, value: f64) -> String {
    if parameter.range.is_switch() {
        (value != 0.0).to_string()
    } else {
        number(value)
    }
}

/// Prints all conditions, one per line.
pub(super) fn list(screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let all = words::plural(CONDITIONS.len() as u64, "condition", "conditions");
    writeln!(
        out,
        "{all}; * is in the recommended set, used when no file is given.  --explain ID says more\n"
    )?;
    let mut table = Table::new([
        Column::left(""),
        Column::left("CONDITION"),
        Column::left("NEEDS"),
        Column::left("DEFAULT"),
        Column::left("SAYS"),
    ]);
    let mut target = None;
    for condition in CONDITIONS {
        if target != Some(condition.target) {
            target = Some(condition.target);
            let head = match condition.target {
                Target::Tensor => "Any tensor",
                Target::Weight => "Weights",
                Target::Gradient => "Gradients",
                Target::Activation => "Activations",
                Target::Scalar => "Scalars",
                Target::Run => "Ranks, and the run as a whole",
                Target::Profile => "Profiles",
            };
            let head = styled(STRONG, head);
            table.row(["".into(), head, "".into(), "".into(), "".into()]);
        }
        let (_, style) = word(condition.severity);
        let mark = if condition.recommended { "*" } else { "" };
        let needs = [
            (Need::Channels, "channels"),
            (Need::Change, "previous"),
            (Need::History, "history"),
            (Need::Hash, "hash"),
        ];
        let most = needs.iter().find(|(need, _)| condition.needs(*need));
        let needs = most.map_or("stats", |(_, name)| name);
        table.row([
            styled(style, mark),
            condition.id.into(),
            needs.into(),
            default_of(condition).into(),
            screen.signs(condition.en.says).into(),
        ]);
    }
    table.write(out)
}

/// The value of a parameter when no file is given, for a condition of the recommended set; `None`: off.
fn preset_of(condition: &Condition, parameter: &Parameter) -> Option<f64> {
    let recommended = parameter.recommended.filter(|_| condition.recommended);
    recommended.or(parameter.default)
}

/// The limits that are on by default.
fn default_of(condition: &Condition) -> String {
    let set = |p| Some((p, preset_of(condition, p)?));
    let mut all = condition.parameters.iter().filter_map(set);
    let first = all
        .next()
        .map(|(p, default)| format!("{} {}", p.name, value(p, default)));
    match (first, condition.parameters.iter().any(|p| p.is_limit)) {
        (Some(first), _) if all.next().is_some() => format!("{first}, …"),
        (Some(first), _) => first,
        (None, true) => "(none: give a limit)".to_owned(),
        (None, false) => String::new(),
    }
}
