//! Order of the rows, and their folders.
//!
//! Missing values come last in both directions. NaN is worse than any number: it is the maximum of losses and the
//! minimum of metrics.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use trainscope_api::order::natural;
use trainscope_api::runs::{LastValue, Run, RunStatus};
use trainscope_format::hparams::HparamValue;

use super::columns::Column;
use super::run_state::{Files, Only};
use trainscope_web_kit::run_name::split_name;
use trainscope_web_kit::url_state::{Key, Setting};

/// A column to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SortKey {
    Name,
    Files,
    Status,
    Steps,
    Loss,
    Metric,
    Updated,
    Duration,
    /// Optional column; in the address with the prefix [`COLUMN`].
    Column(Column),
}

const COLUMN: &str = "col:";
const KEYS: [(SortKey, &str); 8] = [
    (SortKey::Name, "name"),
    (SortKey::Files, "files"),
    (SortKey::Status, "status"),
    (SortKey::Steps, "steps"),
    (SortKey::Loss, "loss"),
    (SortKey::Metric, "metric"),
    (SortKey::Updated, "updated"),
    (SortKey::Duration, "duration"),
];

/// Value of an optional column for a run.
type Cell<'a> = dyn Fn(&Run, &Column) -> Option<HparamValue> + 'a;

/// A column and a direction. In the address, the name of the column, with a leading `-` for descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) key: SortKey,
    pub(super) descending: bool,
}

/// Parameter of the address: the order of the rows, most recently changed first by default.
pub(super) const SORT: Setting<Sort> = Key::with("sort", Sort::parse, Sort::text).or(Sort {
    key: SortKey::Updated,
    descending: true,
});

impl Sort {
    /// Parses the text of [`Self::text`].
    fn parse(text: &str) -> Option<Self> {
        let (name, descending) = text
            .strip_prefix('-')
            .map_or((text, false), |name| (name, true));
        let column = name.strip_prefix(COLUMN);
        let column = column.map(|column| SortKey::Column(Column::parse(column)));
        let known = || {
            let known = KEYS.iter().find(|(_, known)| *known == name);
            known.map(|(key, _)| key.clone())
        };
        let key = column.or_else(known)?;
        Some(Self { key, descending })
    }

    fn text(&self) -> String {
        let name = KEYS
            .iter()
            .find(|(key, _)| *key == self.key)
            .map_or("updated", |(_, name)| name);
        let sign = if self.descending { "-" } else { "" };
        match &self.key {
            SortKey::Column(column) => format!("{sign}{COLUMN}{}", column.text()),
            _ => format!("{sign}{name}"),
        }
    }

    /// Order after a click on the header of `key`: first its usual direction, then the opposite.
    pub(super) fn pressed(&self, key: &SortKey) -> Self {
        let descending = if self.key == *key {
            !self.descending
        } else {
            !matches!(key, SortKey::Name | SortKey::Loss)
        };
        Self {
            key: key.clone(),
            descending,
        }
    }

    fn compare(&self, a: &Run, b: &Run, cell: &Cell<'_>) -> Ordering {
        let by = |a: Option<f64>, b: Option<f64>| absent_last(a, b, self.descending);
        let last = |value: &Option<LastValue>, nan: f64| {
            value
                .as_ref()
                .map(|last| if last.value.is_nan() { nan } else { last.value })
        };
        let directed = |ordering: Ordering| {
            if self.descending {
                ordering.reverse()
            } else {
                ordering
            }
        };
        let order = match &self.key {
            SortKey::Column(column) => by_cell(cell(a, column), cell(b, column), self.descending),
            SortKey::Name => directed(natural(&a.id, &b.id)),
            SortKey::Files => directed(badness(a).cmp(&badness(b))),
            SortKey::Status => directed(liveness(a).cmp(&liveness(b))),
            SortKey::Steps => by(steps(a), steps(b)),
            // NaN sorts above infinity.
            SortKey::Loss => by(last(&a.loss, f64::NAN), last(&b.loss, f64::NAN)),
            SortKey::Metric => by(
                last(&a.metric, f64::NEG_INFINITY),
                last(&b.metric, f64::NEG_INFINITY),
            ),
            SortKey::Updated => by(updated(a), updated(b)),
            SortKey::Duration => by(duration_secs(a), duration_secs(b)),
        };
        order.then_with(|| natural(&a.id, &b.id))
    }
}

/// Seconds from a run's first record to its last; `None` without records.
pub(super) fn duration_secs(run: &Run) -> Option<f64> {
    let secs = run.last_wall_time_secs? - run.first_wall_time_secs?;
    secs.is_finite().then_some(secs)
}

/// Time of the last record. All live runs are equally new, or their rows would swap every second.
fn updated(run: &Run) -> Option<f64> {
    if run.status == RunStatus::Live {
        Some(f64::INFINITY)
    } else {
        run.last_wall_time_secs
    }
}

/// Sort key of health: findings before damage of files.
fn badness(run: &Run) -> (u64, u64, Files) {
    let counts = run
        .health
        .as_ref()
        .map(|health| health.counts)
        .unwrap_or_default();
    (counts.error, counts.warning, Files::of(run))
}

fn liveness(run: &Run) -> u8 {
    match run.status {
        RunStatus::Gone => 0,
        RunStatus::Stopped => 1,
        RunStatus::Live => 2,
    }
}

fn steps(run: &Run) -> Option<f64> {
    run.last_step.map(|step| step as f64)
}

fn absent_last(a: Option<f64>, b: Option<f64>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => {
            let order = a.total_cmp(&b);
            if descending { order.reverse() } else { order }
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// Order of cells: numbers, with NaN as the maximum, then words in natural order, then missing values.
fn by_cell(a: Option<HparamValue>, b: Option<HparamValue>, descending: bool) -> Ordering {
    let number = |value: &Option<HparamValue>| match value {
        Some(HparamValue::Number(number)) => Some(*number),
        _ => None,
    };
    let words = |value: Option<HparamValue>| match value {
        Some(HparamValue::Text(text)) => Some(text),
        Some(HparamValue::Bool(is)) => Some(is.to_string()),
        Some(HparamValue::Number(_) | HparamValue::Null) | None => None,
    };
    let numbers = absent_last(number(&a), number(&b), descending);
    numbers.then_with(|| match (words(a), words(b)) {
        (Some(a), Some(b)) if descending => natural(&b, &a),
        (Some(a), Some(b)) => natural(&a, &b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    })
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// The head of a folder.
    Group(Group),
    Run {
        /// Name of the run.
        id: String,
        /// `true` for a row below a folder's header, which displays the folder.
        grouped: bool,
    },
}

/// A folder with the numbers of its runs by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) folder: String,
    pub(super) runs: u64,
    pub(super) errors: u64,
    pub(super) bad: u64,
    pub(super) live: u64,
    pub(super) folded: bool,
}

/// Rows in their order. Folders have the order of their first run. Without `grouped`, or if all runs are in the top
/// folder, there are no heads.
pub(super) fn arrange(
    mut runs: Vec<&Run>,
    sort: &Sort,
    grouped: bool,
    closed: &HashSet<String>,
    cell: &Cell<'_>,
) -> Vec<Item> {
    runs.sort_by(|a, b| sort.compare(a, b, cell));
    let flat = |run: &Run| Item::Run {
        id: run.id.clone(),
        grouped: false,
    };
    if !grouped || runs.iter().all(|run| split_name(&run.id).0.is_empty()) {
        return runs.into_iter().map(flat).collect();
    }
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut folders: Vec<(&str, Vec<&Run>)> = Vec::new();
    for run in runs {
        let folder = split_name(&run.id).0;
        let position = *positions.entry(folder).or_insert_with(|| {
            folders.push((folder, Vec::new()));
            folders.len() - 1
        });
        folders[position].1.push(run);
    }
    if sort.key == SortKey::Name {
        folders.sort_by(|a, b| {
            let order = natural(a.0, b.0);
            if sort.descending {
                order.reverse()
            } else {
                order
            }
        });
    }
    let mut items = Vec::new();
    for (folder, runs) in folders {
        let count = |holds: fn(&Run) -> bool| runs.iter().filter(|run| holds(run)).count() as u64;
        let is_folded = closed.contains(folder);
        items.push(Item::Group(Group {
            folder: folder.to_owned(),
            runs: runs.len() as u64,
            errors: count(|run| Only::Errors.holds(run)),
            bad: count(|run| Files::of(run).is_bad()),
            live: count(|run| run.status == RunStatus::Live),
            folded: is_folded,
        }));
        if !is_folded {
            items.extend(runs.iter().map(|run| Item::Run {
                id: run.id.clone(),
                grouped: true,
            }));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use trainscope_api::runs::FileStatus;

    use super::super::test_runs::run;
    use super::*;

    fn sorted(runs: &[Run], sort: &str) -> Vec<String> {
        let sort = Sort::parse(sort).unwrap();
        let none = |run: &Run, column: &Column| run.hparams.get(column.name()).cloned();
        let items = arrange(runs.iter().collect(), &sort, false, &HashSet::new(), &none);
        items
            .into_iter()
            .map(|item| match item {
                Item::Run { id, .. } => id,
                Item::Group(group) => group.folder,
            })
            .collect()
    }

    fn with_loss(id: &str, value: Option<f64>) -> Run {
        Run {
            loss: value.map(|value| LastValue {
                tag: "loss".into(),
                rank: 0,
                step: 1,
                value,
            }),
            ..run(id)
        }
    }

    #[test]
    fn nan_is_the_worst_loss_and_absent_is_last() {
        let runs = [
            with_loss("a", Some(1.0)),
            with_loss("b", None),
            with_loss("c", Some(f64::NAN)),
            with_loss("d", Some(f64::INFINITY)),
        ];
        assert_eq!(sorted(&runs, "loss"), ["a", "d", "c", "b"]);
        assert_eq!(sorted(&runs, "-loss"), ["c", "d", "a", "b"]);
    }

    #[test]
    fn chosen_columns_sort_numbers_then_words_then_nothing() {
        let with = |id: &str, value: Option<HparamValue>| {
            let mut run = run(id);
            run.hparams
                .extend(value.map(|value| ("lr".to_owned(), value)));
            run
        };
        let runs = [
            with("none", None),
            with("word", Some(HparamValue::Text("auto".to_owned()))),
            with("nan", Some(HparamValue::Number(f64::NAN))),
            with("ten", Some(HparamValue::Number(10.0))),
            with("two", Some(HparamValue::Number(2.0))),
        ];
        let order = ["two", "ten", "nan", "word", "none"];
        assert_eq!(sorted(&runs, "col:lr"), order);
        let order = ["nan", "ten", "two", "word", "none"];
        assert_eq!(sorted(&runs, "-col:lr"), order);
    }

    #[test]
    fn names_count_like_people() {
        let runs = ["r10", "r2", "r2b", "r0", "r", "q/1"].map(run);
        assert_eq!(
            sorted(&runs, "name"),
            ["q/1", "r", "r0", "r2", "r2b", "r10"]
        );
        assert_eq!(
            sorted(&runs, "-name"),
            ["r10", "r2b", "r2", "r0", "r", "q/1"]
        );
    }

    #[test]
    fn folders_stand_in_the_order_of_their_first_run_and_fold() {
        let mut runs = ["a/1", "b/1", "a/2", "top"].map(run);
        for (run, secs) in runs.iter_mut().zip([1.0, 3.0, 2.0, 0.5]) {
            run.last_wall_time_secs = Some(secs);
        }
        let folded = HashSet::from(["a".to_owned()]);
        let none = |_: &Run, _: &Column| None;
        let items = arrange(
            runs.iter().collect(),
            &SORT.value_in(""),
            true,
            &folded,
            &none,
        );
        let shown: Vec<String> = items
            .iter()
            .map(|item| match item {
                Item::Run { id, .. } => id.clone(),
                Item::Group(group) => format!("[{} {}]", group.folder, group.runs),
            })
            .collect();
        assert_eq!(shown, ["[b 1]", "b/1", "[a 2]", "[ 1]", "top"]);
    }

    #[test]
    fn the_address_keeps_the_sort() {
        for text in [
            "name",
            "-name",
            "loss",
            "-steps",
            "updated",
            "col:lr",
            "-col:metric:val/loss",
        ] {
            assert_eq!(Sort::parse(text).unwrap().text(), text);
        }
        assert_eq!(Sort::parse("nonsense"), None);
    }

    #[test]
    fn a_live_run_may_have_a_torn_end() {
        let mut torn = run("a");
        torn.files[0].status = FileStatus::Truncated;
        assert_eq!(Files::of(&torn), Files::Truncated(1));
        torn.status = RunStatus::Live;
        assert_eq!(Files::of(&torn), Files::Readable);
    }
}
