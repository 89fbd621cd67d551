//! Columns as axes: places and scales, and the default choice of columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trainscope_api::order::natural;
use trainscope_api::table::{
    CellValue, Cells, ColumnGroup, ColumnInfo, ColumnKind, Direction, SUMMARIES,
    Scale as ColumnScale, TableColumns,
};
use trainscope_charts::parallel::{AxisKind, AxisSpec, Spot};
use trainscope_charts::scale::Scale;

use super::view::{View, text_of};
use trainscope_web_kit::url_state::{Key, Setting};

/// Maximum number of default axes.
const MAX_AXES: usize = 12;
/// Maximum number of results among the default axes.
const MAX_RESULTS: usize = 3;
/// Maximum number of places of a category. Of more values, the most common have a place each and the others share one.
const MAX_PLACES: usize = 40;
/// Place of the other values of a category.
pub(super) const OTHERS: &str = "…";
/// End of the linear part of a symmetric scale, as a fraction of the maximum absolute value.
const LINEAR_PART: f64 = 1e-3;

/// Scale that the user chose for an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChosenScale {
    Linear,
    Log,
    Symlog,
}

impl ChosenScale {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Linear => "lin",
            Self::Log => "log",
            Self::Symlog => "symlog",
        }
    }
}

/// The user's choices for one axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AxisLook {
    pub(super) scale: Option<ChosenScale>,
    pub(super) is_upside_down: bool,
}

/// Looks by the key of the column.
pub(super) type Looks = BTreeMap<String, AxisLook>;

/// Parameter of the address: the looks of all axes.
pub(super) const LOOKS: Setting<Looks> =
    Key::of_items("scale", |items| Some(parse_looks(items)), look_items).or(Looks::new());

/// Parses the looks of the address, such as `lr=log` and `loss=down`; skips unknown words.
fn parse_looks(items: &[String]) -> Looks {
    let mut looks = Looks::new();
    for item in items {
        let Some((key, word)) = item.rsplit_once('=') else {
            continue;
        };
        let look = looks.entry(key.to_owned()).or_default();
        match word {
            "lin" => look.scale = Some(ChosenScale::Linear),
            "log" => look.scale = Some(ChosenScale::Log),
            "symlog" => look.scale = Some(ChosenScale::Symlog),
            "down" => look.is_upside_down = true,
            _ => {}
        }
    }
    looks
}

fn look_items(looks: &Looks) -> Vec<String> {
    let of = |(key, look): (&String, &AxisLook)| {
        let scale = look.scale.map(|scale| format!("{key}={}", scale.text()));
        let down = look.is_upside_down.then(|| format!("{key}=down"));
        [scale, down].into_iter().flatten().collect::<Vec<_>>()
    };
    looks.iter().flat_map(of).collect()
}

/// Facts about a column by its key. A summary (`metric:loss@min`) takes them from its scalar.
pub(super) fn info_of(columns: &TableColumns, key: &str) -> ColumnInfo {
    let find = |key: &str| columns.columns.iter().find(|info| info.key == key).cloned();
    if let Some(info) = find(key) {
        return info;
    }
    let summary = key
        .rsplit_once('@')
        .filter(|(_, name)| SUMMARIES.contains(name));
    let base = summary.and_then(|(base, name)| Some((find(base)?, name)));
    match base {
        Some((info, name)) => ColumnInfo {
            key: key.to_owned(),
            label: format!("{}@{name}", info.label),
            constant: None,
            kind: if name.starts_with("step_of") {
                ColumnKind::Integer
            } else {
                ColumnKind::Number
            },
            direction: info.direction.filter(|_| !name.starts_with("step_of")),
            distinct: info.distinct.max(2),
            ..info
        },
        None => ColumnInfo {
            key: key.to_owned(),
            label: key.to_owned(),
            ..ColumnInfo::default()
        },
    }
}

/// `true` if a column differs between runs; other columns explain nothing.
pub(super) fn differs(info: &ColumnInfo) -> bool {
    info.distinct > 1
}

/// `true` if a column can be an axis.
pub(super) const fn is_axis(info: &ColumnInfo) -> bool {
    !matches!(info.kind, ColumnKind::Text | ColumnKind::Empty)
}

/// Default columns: parameters that differ, the data, and results with a known direction. `most` is the maximum number
/// of axes; without it, texts are columns too.
pub(super) fn first_columns(columns: &TableColumns, most: Option<usize>) -> Vec<String> {
    let is_shown = |info: &&ColumnInfo| differs(info) && (most.is_none() || is_axis(info));
    let of = |group: ColumnGroup| {
        columns
            .columns
            .iter()
            .filter(move |info| info.group == group)
            .filter(is_shown)
    };
    let mut results: Vec<&ColumnInfo> = of(ColumnGroup::Result)
        .filter(|info| info.direction.is_some())
        .collect();
    results.sort_by_key(|info| std::cmp::Reverse(info.runs));
    results.truncate(if most.is_some() {
        MAX_RESULTS
    } else {
        usize::MAX
    });
    // Losses first: the results to maximize are at the right end.
    results.sort_by_key(|info| info.direction == Some(Direction::More));
    let data: Vec<&ColumnInfo> = of(ColumnGroup::Data)
        .filter(|info| {
            most.is_none() || info.key == "data:pipeline" || info.key == "data:train_size"
        })
        .collect();
    let mut parameters: Vec<&ColumnInfo> = of(ColumnGroup::Parameter).collect();
    if most.is_none() {
        parameters.sort_by_key(|info| std::cmp::Reverse(info.runs));
    }
    if let Some(most) = most {
        let room = most.saturating_sub(results.len() + data.len());
        let mut commonest = parameters.clone();
        commonest.sort_by_key(|info| std::cmp::Reverse(info.runs));
        commonest.truncate(room);
        parameters.retain(|info| commonest.iter().any(|other| other.key == info.key));
    }
    let all = parameters.into_iter().chain(data).chain(results);
    all.map(|info| info.key.clone()).collect()
}

/// Default axes; the result that colours and sorts the runs is the last one.
pub(super) fn first_axes(columns: &TableColumns, target: Option<String>) -> Vec<String> {
    let mut axes = first_columns(columns, Some(MAX_AXES));
    axes.retain(|key| Some(key) != target.as_ref());
    axes.extend(target);
    axes
}

/// Default result. Of results with a known direction, those to maximize come first, then those with the most runs.
pub(super) fn first_target(columns: &TableColumns) -> Option<String> {
    let results = columns
        .columns
        .iter()
        .filter(|info| info.group == ColumnGroup::Result);
    let known = results.filter(|info| info.direction.is_some() && differs(info));
    let best = known.max_by_key(|info| (info.direction == Some(Direction::More), info.runs));
    best.map(|info| info.key.clone())
}

/// A column of a view as an axis; `None` until the column has arrived.
pub(super) fn axis_of(
    view: &View,
    info: &ColumnInfo,
    look: AxisLook,
    caption: &str,
) -> Option<AxisSpec> {
    let column = view.columns.get(&info.key)?;
    let is_numeric = matches!(info.kind, ColumnKind::Number | ColumnKind::Integer);
    let (kind, spots) = if is_numeric {
        let scale = scale_of(&column.cells, info, look, view.len());
        let kind = AxisKind::Numbers {
            scale,
            is_whole: info.kind == ColumnKind::Integer && !view.is_grouped,
        };
        (
            kind,
            (0..view.len())
                .map(|row| number_spot(&column.cells.get(row)))
                .collect(),
        )
    } else {
        choices(&column.cells, view.len())
    };
    Some(AxisSpec {
        name: info.label.clone(),
        group: caption.to_owned(),
        kind,
        is_upside_down: look.is_upside_down,
        spots: Arc::new(spots),
        spread: column.spread.clone().filter(|_| is_numeric),
    })
}

fn scale_of(cells: &Cells, info: &ColumnInfo, look: AxisLook, rows: usize) -> Scale {
    match look.scale {
        Some(ChosenScale::Log) => Scale::Log,
        Some(ChosenScale::Symlog) => {
            let sizes = (0..rows).filter_map(|row| cells.number(row)).map(f64::abs);
            let most = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
            Scale::Symlog {
                linear: (most * LINEAR_PART).max(f64::MIN_POSITIVE),
            }
        }
        None if info.scale == ColumnScale::Log => Scale::Log,
        Some(ChosenScale::Linear) | None => Scale::Linear,
    }
}

fn number_spot(value: &CellValue) -> Spot {
    match value {
        CellValue::Missing => Spot::Missing,
        CellValue::Number(number) => Spot::Number(*number),
        CellValue::Text(_) | CellValue::Truth(_) => Spot::Text,
    }
}

/// Places of a category in the order of its values, and the place of each row.
fn choices(cells: &Cells, rows: usize) -> (AxisKind, Vec<Spot>) {
    let values: Vec<CellValue> = (0..rows).map(|row| cells.get(row)).collect();
    let mut counts: HashMap<String, (usize, Option<f64>)> = HashMap::new();
    for value in values.iter().filter(|value| !value.is_missing()) {
        counts
            .entry(text_of(value))
            .or_insert((0, value.number()))
            .0 += 1;
    }
    let mut known: Vec<(String, (usize, Option<f64>))> = counts.into_iter().collect();
    known.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| natural(&a.0, &b.0)));
    let has_others = known.len() > MAX_PLACES;
    known.truncate(if has_others {
        MAX_PLACES - 1
    } else {
        MAX_PLACES
    });
    // Ascending, as on an axis of numbers.
    known.sort_by(|a, b| match (a.1.1, b.1.1) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => natural(&a.0, &b.0),
    });
    let mut places: Vec<String> = known.into_iter().map(|(name, _)| name).collect();
    let of: HashMap<&str, u32> = places.iter().map(String::as_str).zip(0..).collect();
    let others = u32::try_from(places.len()).unwrap_or(u32::MAX);
    let spot = |value: &CellValue| {
        if value.is_missing() {
            Spot::Missing
        } else {
            Spot::Choice(of.get(&*text_of(value)).copied().unwrap_or(others))
        }
    };
    let spots = values.iter().map(spot).collect();
    if has_others {
        places.push(OTHERS.to_owned());
    }
    (AxisKind::Choices(places), spots)
}

#[cfg(test)]
mod tests {
    use super::super::view::table;
    use super::*;

    fn column(key: &str, group: ColumnGroup, kind: ColumnKind, distinct: usize) -> ColumnInfo {
        ColumnInfo {
            key: key.to_owned(),
            label: key.to_owned(),
            group,
            kind,
            distinct,
            runs: 9,
            direction: match key {
                "metric:loss" => Some(Direction::Less),
                "eval:acc" => Some(Direction::More),
                _ => None,
            },
            ..ColumnInfo::default()
        }
    }

    #[test]
    fn a_page_begins_with_what_differs_and_the_better_end_at_the_right() {
        let columns = TableColumns {
            columns: vec![
                column("lr", ColumnGroup::Parameter, ColumnKind::Number, 5),
                column("epochs", ColumnGroup::Parameter, ColumnKind::Integer, 1),
                column("tag", ColumnGroup::Parameter, ColumnKind::Text, 9),
                column("data:pipeline", ColumnGroup::Data, ColumnKind::Category, 3),
                column("eval:acc", ColumnGroup::Result, ColumnKind::Number, 9),
                column("metric:loss", ColumnGroup::Result, ColumnKind::Number, 9),
                column("metric:time", ColumnGroup::Result, ColumnKind::Number, 9),
                column("run:steps", ColumnGroup::Run, ColumnKind::Integer, 4),
            ],
            ..TableColumns::default()
        };
        let axes = |target: &str| first_axes(&columns, Some(target.to_owned()));
        assert_eq!(
            axes("eval:acc"),
            ["lr", "data:pipeline", "metric:loss", "eval:acc"]
        );
        assert_eq!(axes("metric:loss").last().unwrap(), "metric:loss");
        assert_eq!(axes("metric:time").len(), 5);
        assert_eq!(first_columns(&columns, None)[1], "tag");
        assert_eq!(first_target(&columns).as_deref(), Some("eval:acc"));
        let info = info_of(&columns, "metric:loss@step_of_min");
        assert_eq!((info.kind, info.direction), (ColumnKind::Integer, None));
        assert_eq!(
            info_of(&columns, "metric:loss@min").direction,
            Some(Direction::Less)
        );
    }

    #[test]
    fn the_commonest_values_have_places_and_the_others_share_one() {
        let values: Vec<CellValue> = (0..100)
            .map(|at| {
                CellValue::Text(if at < 50 {
                    "a".to_owned()
                } else {
                    format!("x{at}")
                })
            })
            .collect();
        let view = View::of(&table(&[("opt", &values)]), |_| true);
        let info = column("opt", ColumnGroup::Parameter, ColumnKind::Category, 51);
        let axis = axis_of(&view, &info, AxisLook::default(), "").unwrap();
        let AxisKind::Choices(names) = &axis.kind else {
            panic!("places")
        };
        assert_eq!(
            (names.len(), names[0].as_str(), names[39].as_str()),
            (40, "a", OTHERS)
        );
        assert_eq!(
            (axis.spots[0], axis.spots[99]),
            (Spot::Choice(0), Spot::Choice(39))
        );
    }

    #[test]
    fn looks_survive_their_address() {
        let items = ["a=b=log", "a=b=down", "loss=symlog"].map(str::to_owned);
        assert_eq!(look_items(&parse_looks(&items)), items);
    }
}
