//! The columns of the table that fit next to the names, and their widths in CSS pixels.

use std::collections::BTreeSet;

use trainscope_charts::label;

use trainscope_web_kit::i18n::RunsTexts;
use trainscope_web_kit::prelude::*;

/// A column of every list, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandardColumn {
    Health,
    Status,
    Steps,
    Curve,
    Loss,
    Metric,
    Updated,
    Duration,
    Data,
    Note,
}

impl StandardColumn {
    pub(super) const ALL: [Self; 10] = [
        Self::Health,
        Self::Status,
        Self::Steps,
        Self::Curve,
        Self::Loss,
        Self::Metric,
        Self::Updated,
        Self::Duration,
        Self::Data,
        Self::Note,
    ];

    /// Name of the column in the address, in the notebook and in the class that hides it.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Health => "files",
            Self::Status => "status",
            Self::Steps => "steps",
            Self::Curve => "curve",
            Self::Loss => "loss",
            Self::Metric => "metric",
            Self::Updated => "updated",
            Self::Duration => "duration",
            Self::Data => "data",
            Self::Note => "note",
        }
    }

    pub(super) const fn head(self, texts: &RunsTexts) -> &'static str {
        match self {
            Self::Health => texts.files,
            Self::Status => texts.status,
            Self::Steps => texts.steps,
            Self::Curve => texts.loss,
            Self::Loss => texts.last,
            Self::Metric => texts.metric,
            Self::Updated => texts.updated,
            Self::Duration => texts.duration,
            Self::Data => texts.data,
            Self::Note => texts.note_label,
        }
    }
}

/// Space that the runs of the list need, CSS pixels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Needs {
    /// Width of the longest name with its chip.
    pub(super) name: f64,
    /// Width of the longest words of health.
    pub(super) health: f64,
    /// Width of the longest note; 0 without notes.
    pub(super) note: f64,
    /// Width of the values or the head of the metric, the longer of both.
    pub(super) metric: f64,
    /// Kinds of data that any run has.
    pub(super) kinds: BTreeSet<&'static str>,
    /// Widths of the heads or values of the extra columns.
    pub(super) extra: Vec<f64>,
    /// Columns that are switched off.
    pub(super) off: Vec<StandardColumn>,
    /// `true` while the user chooses columns. All chosen columns are shown then, and the table scrolls sideways.
    pub(super) is_choosing: bool,
}

/// Columns with their widths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// Shown standard columns, in the order of the table.
    pub(super) shown: Vec<StandardColumn>,
    /// `true` if there are boxes to select runs.
    pub(super) has_check: bool,
    /// `true` if the extra columns are shown.
    pub(super) has_extra: bool,
    /// Width of the names.
    pub(super) name: f64,
    /// Minimum width of the table while the user chooses columns, otherwise 0.
    pub(super) width: f64,
    /// The value of `grid-template-columns`.
    pub(super) template: String,
    /// Classes of the table that hide the other columns.
    pub(super) class: String,
}

const CHECK: f64 = 32.0;
/// Minimum and maximum width of the names.
const NAME: (f64, f64) = (112.0, 320.0);
/// Width of the names below which less important columns are left out.
const NAME_BEFORE_OTHERS: f64 = 220.0;
const HEALTH: (f64, f64) = (112.0, 300.0);
const NOTE: (f64, f64) = (72.0, 320.0);
/// Width of a column without notes, for the button that adds one.
const NO_NOTE: f64 = 44.0;
const EXTRA: (f64, f64) = (56.0, 150.0);
const METRIC: (f64, f64) = (64.0, 150.0);
/// Width of an icon with its gap, and padding of the cell of icons.
const ICON: (f64, f64) = (17.0, 24.0);

/// Layout that the rows follow.
#[derive(Clone, Copy)]
pub(super) struct RowLook {
    /// Width of the names.
    pub(super) name: Memo<f64>,
    /// Kinds of data that have an icon.
    pub(super) kinds: Memo<Vec<&'static str>>,
}

/// Size of a cell's text relative to a label of a chart.
const LETTERS: f64 = 12.0 / 11.0;
/// Space at both sides of a cell's text, both together.
pub(super) const PADDING: f64 = 14.0;
/// Width of the chip before a name.
pub(super) const CHIP: f64 = 18.0;
/// Width of the icon and the count before the words of health.
pub(super) const COUNT: f64 = 40.0;

/// Width of a cell with this text, in CSS pixels.
pub(super) fn text_width(text: &str) -> f64 {
    (label::width(text) * LETTERS + PADDING).ceil()
}

/// Part of the table that can be left out.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Standard(StandardColumn),
    Extra,
    Check,
}

/// Parts in the order in which they are left out, the least important first.
const DROPPED: [Part; 10] = [
    Part::Standard(StandardColumn::Note),
    Part::Standard(StandardColumn::Data),
    Part::Standard(StandardColumn::Duration),
    Part::Standard(StandardColumn::Metric),
    Part::Standard(StandardColumn::Status),
    Part::Extra,
    Part::Standard(StandardColumn::Updated),
    Part::Standard(StandardColumn::Curve),
    Part::Check,
    Part::Standard(StandardColumn::Loss),
];

/// Columns and widths for a table of this width.
pub(super) fn arrange(room: f64, needs: &Needs) -> Layout {
    let mut parts: Vec<Part> = StandardColumn::ALL
        .into_iter()
        .filter(|column| !needs.off.contains(column))
        .map(Part::Standard)
        .collect();
    parts.extend([Part::Extra, Part::Check]);
    let name = needs.name.clamp(NAME.0, NAME.1);
    let total = |parts: &[Part]| parts.iter().map(|part| least(*part, needs)).sum::<f64>();
    let dropped = if needs.is_choosing { &[][..] } else { &DROPPED };
    for &part in dropped {
        let wanted = match part {
            Part::Standard(
                StandardColumn::Note | StandardColumn::Data | StandardColumn::Duration,
            ) => name.min(NAME_BEFORE_OTHERS),
            _ => NAME.0,
        };
        if total(&parts) + wanted <= room {
            break;
        }
        parts.retain(|other| *other != part);
    }
    let room = if needs.is_choosing {
        room.max(total(&parts) + name.min(NAME_BEFORE_OTHERS))
    } else {
        room
    };
    let mut spare = (room - total(&parts) - NAME.0).max(0.0);
    let mut take = |wanted: f64| {
        let taken = wanted.clamp(0.0, spare);
        spare -= taken;
        taken
    };
    let name = NAME.0 + take(name - NAME.0);
    let has = |column: StandardColumn| parts.contains(&Part::Standard(column));
    let mut grown = |column: StandardColumn, need: f64| {
        let least = least(Part::Standard(column), needs);
        if has(column) { take(need - least) } else { 0.0 }
    };
    let health = grown(StandardColumn::Health, needs.health.min(HEALTH.1));
    let note = grown(StandardColumn::Note, needs.note.min(NOTE.1));
    let has_extra = parts.contains(&Part::Extra) && !needs.extra.is_empty();
    let has_check = parts.contains(&Part::Check);
    let shown: Vec<StandardColumn> = StandardColumn::ALL
        .into_iter()
        .filter(|column| has(*column))
        .collect();
    let mut widths = Vec::new();
    widths.extend(has_check.then_some(CHECK));
    let name_at = widths.len();
    widths.push(name);
    for column in &shown {
        let more = match column {
            StandardColumn::Health => health,
            StandardColumn::Note => note,
            _ => 0.0,
        };
        widths.push(least(Part::Standard(*column), needs) + more);
        if *column == StandardColumn::Metric && has_extra {
            widths.extend(needs.extra.iter().map(|need| extra(*need)));
        }
    }
    if has_extra && !shown.contains(&StandardColumn::Metric) {
        // After the standard columns that come before the metric.
        let before = shown
            .iter()
            .filter(|column| (**column as usize) < StandardColumn::Metric as usize)
            .count();
        let at = name_at + 1 + before;
        widths.splice(at..at, needs.extra.iter().map(|need| extra(*need)));
    }
    // The remaining width goes to the last text column, otherwise to the names.
    let stretched = if shown.last() == Some(&StandardColumn::Note) {
        widths.len() - 1
    } else {
        name_at + usize::from(has(StandardColumn::Health))
    };
    let template = widths.iter().enumerate().map(|(at, width)| {
        if at == stretched {
            format!("minmax({width:.0}px, 1fr)")
        } else {
            format!("{width:.0}px")
        }
    });
    let missing = StandardColumn::ALL
        .into_iter()
        .filter(|column| !has(*column))
        .map(StandardColumn::key);
    let missing = missing
        .chain((!has_check).then_some("check"))
        .chain((!has_extra).then_some("hparam"));
    Layout {
        template: template.collect::<Vec<_>>().join(" "),
        class: missing.flat_map(|key| [" no-", key]).collect(),
        shown,
        has_check,
        has_extra,
        name,
        width: if needs.is_choosing {
            widths.iter().sum()
        } else {
            0.0
        },
    }
}

fn extra(need: f64) -> f64 {
    need.clamp(EXTRA.0, EXTRA.1)
}

/// Minimum width of a part.
fn least(part: Part, needs: &Needs) -> f64 {
    match part {
        Part::Check => CHECK,
        Part::Extra => needs.extra.iter().map(|need| extra(*need)).sum(),
        Part::Standard(column) => match column {
            StandardColumn::Health => HEALTH.0,
            StandardColumn::Status | StandardColumn::Steps => 66.0,
            StandardColumn::Curve => 88.0,
            StandardColumn::Loss => 70.0,
            StandardColumn::Metric => needs.metric.clamp(METRIC.0, METRIC.1),
            StandardColumn::Updated => 102.0,
            StandardColumn::Duration => 74.0,
            StandardColumn::Data => needs.kinds.len().max(1) as f64 * ICON.0 + ICON.1,
            StandardColumn::Note if needs.note > 0.0 => NOTE.0,
            StandardColumn::Note => NO_NOTE,
        },
    }
}

/// Start of the part of a name that differs from its neighbours in the list, after the last common separator. `None`
/// without a common separator.
pub(super) fn telling_end(name: &str, before: Option<&str>, after: Option<&str>) -> Option<usize> {
    let common = |other: &str| {
        let pairs = name.char_indices().zip(other.chars());
        let end = pairs
            .clone()
            .find(|((_, a), b)| a != b)
            .map(|((at, _), _)| at);
        end.unwrap_or_else(|| pairs.last().map_or(0, |((at, c), _)| at + c.len_utf8()))
    };
    let common = before.map_or(0, common).max(after.map_or(0, common));
    let head = &name[..common.min(name.len())];
    let separator = head.rfind(['-', '_', '.', ' ', '/', '=']);
    separator.map(|at| at + 1).filter(|at| *at < name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(name: f64) -> Needs {
        Needs {
            name,
            health: 180.0,
            note: 0.0,
            metric: 60.0,
            kinds: BTreeSet::from(["a", "b", "c", "d", "e"]),
            extra: vec![60.0],
            off: Vec::new(),
            is_choosing: false,
        }
    }

    /// Sum of the widths in a template.
    fn sum(layout: &Layout) -> f64 {
        let widths = layout.template.replace("1fr", "");
        widths
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|n| n.parse::<f64>().ok())
            .sum()
    }

    #[test]
    fn names_get_what_they_need_before_columns_of_little_news() {
        let layout = arrange(1_064.0, &needs(190.0));
        assert!(layout.name >= 190.0, "{layout:?}");
        assert!(
            layout.shown.contains(&StandardColumn::Metric) && layout.has_extra && layout.has_check
        );
        assert!(sum(&layout) <= 1_064.5, "{layout:?}");
        // Names get at most the width of the longest one.
        assert!(arrange(1_900.0, &needs(190.0)).name < 191.0);
        assert!(arrange(1_900.0, &needs(900.0)).name < 321.0);
    }

    #[test]
    fn extra_columns_outlast_what_one_misses_least() {
        let mut required = needs(190.0);
        required.extra = vec![70.0; 4];
        let layout = arrange(1_064.0, &required);
        assert!(
            layout.has_extra && layout.shown.contains(&StandardColumn::Updated),
            "{layout:?}"
        );
        for width in [260.0, 358.0, 460.0, 660.0, 840.0, 980.0, 1_064.0, 1_600.0] {
            let layout = arrange(width, &required);
            assert!(
                sum(&layout) <= width.max(350.0) + 0.5,
                "{width}: {layout:?}"
            );
        }
    }

    #[test]
    fn columns_can_be_switched_off() {
        let mut required = needs(150.0);
        required.off = vec![StandardColumn::Status, StandardColumn::Metric];
        let layout = arrange(1_600.0, &required);
        assert!(!layout.shown.contains(&StandardColumn::Status));
        assert!(layout.class.contains(" no-status") && layout.class.contains(" no-metric"));
        let columns = layout.shown.len() + 2 + required.extra.len();
        assert_eq!(layout.template.matches("px").count(), columns);
    }

    #[test]
    fn all_chosen_columns_are_shown_while_they_are_chosen() {
        let mut required = needs(190.0);
        required.off = vec![StandardColumn::Status];
        assert!(arrange(676.0, &required).shown.len() < StandardColumn::ALL.len() - 1);
        required.is_choosing = true;
        let layout = arrange(676.0, &required);
        assert_eq!(layout.shown.len(), StandardColumn::ALL.len() - 1);
        assert!(layout.has_extra && layout.has_check && layout.name >= 190.0);
        assert!(layout.width > 676.0 && (layout.width - sum(&layout)).abs() < 6.0);
        // With enough room the table keeps its width.
        assert_eq!(
            arrange(1_600.0, &required).template,
            arrange(
                1_600.0,
                &Needs {
                    is_choosing: false,
                    ..required.clone()
                }
            )
            .template
        );
    }

    #[test]
    fn names_are_told_apart_by_their_ends() {
        fn end<'a>(name: &'a str, before: Option<&str>, after: Option<&str>) -> Option<&'a str> {
            telling_end(name, before, after).map(|at| &name[at..])
        }
        assert_eq!(
            end(
                "torch-steps-frozen",
                Some("torch-onnx"),
                Some("torch-steps-healthy")
            ),
            Some("frozen")
        );
        assert_eq!(
            end("torch-steps-healthy", Some("torch-steps-frozen"), None),
            Some("healthy")
        );
        assert_eq!(end("lr-0.1", Some("lr-0.01"), None), Some("1"));
        assert_eq!(end("alpha", Some("beta"), None), None);
        assert_eq!(end("é-x", Some("é-y"), None), Some("x"));
    }
}
