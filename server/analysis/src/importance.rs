//! Importance of parameters for a result over many runs: correlations, share of variance, reaching the best tenth.

pub use trainscope_api::importance::{Bar, Importance, Measure, Pair, Reason, Stretch, Trust};

use crate::columns::{CellValue, ColumnFacts, ColumnKind};
use crate::headline::Direction;

pub mod fanova;
pub mod forest;
mod pair;
pub mod ped;
pub mod rank;
mod space;
pub mod texts;

use fanova::Boxes;
use forest::Forest;
pub use pair::pair;
use space::Parameter;

/// Minimum number of runs for any statement.
pub const MIN_RUNS: usize = 8;
/// Maximum number of runs to train a forest on: the best ones, and an even choice of the others.
const MAX_FOREST_RUNS: usize = 2_000;
/// Number of the best runs among them.
const BEST_FOREST_RUNS: usize = 500;
/// Maximum number of parameters of a forest.
const MAX_FOREST_PARAMETERS: usize = 64;
/// Number of parameters with the greatest shares whose pairs are examined.
const PAIRED_PARAMETERS: usize = 6;
/// Maximum number of listed pairs.
const MAX_PAIRS: usize = 5;
/// Share of the best tenth that the stretch of a parameter covers in its sentence.
const WORDS_SHARE: f64 = 0.8;
/// Minimum number of best runs for such a stretch.
const MIN_WORDS_RUNS: usize = 5;
/// Names of parameters that should not matter; if they do, that is a finding.
const ASIDE: [&str; 5] = ["seed", "host", "hostname", "commit", "git_commit"];
/// Minimum coefficient of determination of a forest that explains its result.
const GOOD_FIT: f64 = 0.5;
/// Coefficient of determination below which a forest explains nothing.
const BAD_FIT: f64 = 0.2;

/// Minimum number of runs for a measure.
pub fn least_runs(measure: Measure) -> usize {
    match measure {
        Measure::Variance => 30,
        Measure::BestTenth => 20,
        Measure::Rank => MIN_RUNS,
        Measure::Linear => 3,
    }
}

/// Default measure for a number of runs; `None` if they are too few.
pub fn measure_of_runs(runs: usize) -> Option<Measure> {
    let is_enough = |measure: &Measure| runs >= least_runs(*measure);
    [Measure::Variance, Measure::Rank]
        .into_iter()
        .find(is_enough)
}

/// Column of a parameter with a value for each run.
#[derive(Clone, Copy, Debug)]
pub struct NamedColumn<'a> {
    /// Name of the parameter.
    pub name: &'a str,
    /// Its values.
    pub cells: &'a [CellValue],
    /// Minimum and maximum that the experiment declares; `None` for those of its values.
    pub domain: Option<(f64, f64)>,
}

/// Values of the judged runs.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Parameters, each with one value for each result.
    pub columns: &'a [NamedColumn<'a>],
    /// Result of each run.
    pub results: &'a [CellValue],
    /// Better end of the result.
    pub direction: Option<Direction>,
}

/// Runs with a finite result.
struct Runs {
    rows: Vec<usize>,
    results: Vec<f64>,
    /// Results, negated if more is better.
    losses: Vec<f64>,
}

impl Question<'_> {
    fn runs(&self) -> Runs {
        let finite = |cell: &CellValue| cell.number().filter(|number| number.is_finite());
        let cells = self.results.iter().enumerate();
        let (rows, results): (Vec<usize>, Vec<f64>) = cells
            .filter_map(|(row, cell)| Some((row, finite(cell)?)))
            .unzip();
        let losses = match self.direction {
            Some(Direction::More) => results.iter().map(|result| -result).collect(),
            _ => results.clone(),
        };
        Runs {
            rows,
            results,
            losses,
        }
    }
}

/// Importance of parameters for a result. Runs without a finite result are counted, but left out. Without a `measure`
/// the number of runs decides. `None` after `is_cancelled` was true; it is called many times a second.
pub fn importance(
    question: &Question<'_>,
    measure: Option<Measure>,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Importance> {
    let runs = question.runs();
    let measure = measure
        .or_else(|| measure_of_runs(runs.rows.len()))
        .filter(|measure| runs.rows.len() >= least_runs(*measure))
        .filter(|measure| *measure != Measure::BestTenth || question.direction.is_some());
    let mut answer = Importance {
        measure,
        runs: runs.rows.len(),
        left_out: question.results.len() - runs.rows.len(),
        ..Importance::default()
    };
    let (parameters, refused) = parameters(question.columns, &runs.rows);
    answer.bars = refused;
    let Some(measure) = measure else {
        answer
            .bars
            .splice(0..0, parameters.into_iter().map(|parameter| parameter.bar));
        return Some(answer);
    };
    let is_best = ped::best(&runs.losses);
    let mut judged = match measure {
        Measure::Variance => variance(parameters, &runs, &mut answer, is_cancelled)?,
        Measure::BestTenth => best_tenth(parameters, &is_best),
        Measure::Rank => correlations(parameters, |parameter| parameter.rank(&runs.results)),
        Measure::Linear => correlations(parameters, |parameter| parameter.linear(&runs.results)),
    };
    for parameter in &mut judged {
        let has_end = question.direction.is_some();
        parameter.bar.best = has_end
            .then(|| stretch(&parameter.numbers(), &is_best))
            .flatten();
    }
    let mut bars: Vec<Bar> = judged.into_iter().map(|parameter| parameter.bar).collect();
    let size = |bar: &Bar| bar.value.map_or(-1.0, f64::abs);
    bars.sort_by(|a, b| {
        size(b)
            .total_cmp(&size(a))
            .then_with(|| a.name.cmp(&b.name))
    });
    answer.bars.splice(0..0, bars);
    Some(answer)
}

/// Columns that can be judged, and bars with reasons for the others. Columns that divide the runs alike become one.
fn parameters(columns: &[NamedColumn<'_>], rows: &[usize]) -> (Vec<Parameter>, Vec<Bar>) {
    let (mut parameters, mut refused): (Vec<Parameter>, Vec<Bar>) = (Vec::new(), Vec::new());
    for column in columns {
        let cells: Vec<CellValue> = rows
            .iter()
            .map(|row| column.cells.get(*row).cloned().unwrap_or_default())
            .collect();
        let facts = ColumnFacts::new(cells.iter());
        if facts.runs == 0 {
            continue;
        }
        let name = column.name.to_ascii_lowercase();
        let mut bar = Bar {
            name: column.name.to_owned(),
            runs: facts.runs,
            is_aside: ASIDE
                .iter()
                .any(|aside| name == *aside || name.ends_with(&format!(".{aside}"))),
            ..Bar::default()
        };
        bar.reason = match facts.kind {
            _ if facts.is_constant() => Some(Reason::Constant),
            ColumnKind::Text => Some(Reason::NamesEachRun),
            _ => None,
        };
        if bar.reason.is_some() {
            refused.push(bar);
            continue;
        }
        let parameter = Parameter::new(bar, &cells, &facts, column.domain);
        match parameters
            .iter_mut()
            .find(|earlier| earlier.divides_like(&parameter))
        {
            Some(first) => first.bar.same_as.push(parameter.bar.name),
            None => parameters.push(parameter),
        }
    }
    (parameters, refused)
}

/// Bars of correlations; `measure` gives the value or a reason.
fn correlations(
    mut parameters: Vec<Parameter>,
    measure: impl Fn(&Parameter) -> Result<f64, Reason>,
) -> Vec<Parameter> {
    for parameter in &mut parameters {
        match measure(parameter) {
            Ok(value) => parameter.bar.value = Some(value),
            Err(reason) => parameter.bar.reason = Some(reason),
        }
    }
    parameters
}

/// Bars of PED-ANOVA as shares of their sum.
fn best_tenth(mut parameters: Vec<Parameter>, is_best: &[bool]) -> Vec<Parameter> {
    let raw: Vec<f64> = parameters
        .iter()
        .map(|parameter| ped::importance(&parameter.grid(), is_best))
        .collect();
    let sum: f64 = raw.iter().sum();
    for (parameter, raw) in parameters.iter_mut().zip(raw) {
        parameter.bar.value = Some(if sum > 0.0 { raw / sum } else { 0.0 });
    }
    parameters
}

/// A forest with the boxes of its trees.
struct ForestBoxes {
    forest: Forest,
    /// Columns of each parameter.
    groups: Vec<Vec<usize>>,
    /// Of trees that predict more than one value.
    boxes: Vec<Boxes>,
    rows: usize,
}

/// Trains a forest on the parameters that correlate most; returns the others. `None` if it was cancelled.
fn train(
    parameters: &mut Vec<Parameter>,
    runs: &Runs,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<(ForestBoxes, Vec<Parameter>)> {
    // Numbers of at least 0 order like their bits.
    let strength = |parameter: &Parameter| parameter.rank(&runs.results).map_or(0.0, f64::abs);
    parameters.sort_by_cached_key(|parameter| std::cmp::Reverse(strength(parameter).to_bits()));
    let beyond = parameters.split_off(parameters.len().min(MAX_FOREST_PARAMETERS));
    let rows = forest_rows(&runs.losses);
    let results: Vec<f64> = rows
        .iter()
        .filter_map(|row| runs.results.get(*row).copied())
        .collect();
    let space = space::forest_space(parameters, &rows);
    let forest = Forest::new(&space.columns, &results, is_cancelled)?;
    let mut boxes = Vec::with_capacity(forest.trees.len());
    for tree in &forest.trees {
        if is_cancelled() {
            return None;
        }
        boxes.push(Boxes::new(tree, &space.bounds));
    }
    boxes.retain(|tree| tree.variance() > 0.0);
    let trained = ForestBoxes {
        forest,
        groups: space.groups,
        boxes,
        rows: rows.len(),
    };
    Some((trained, beyond))
}

/// Bars of fANOVA, and pairs.
fn variance(
    mut parameters: Vec<Parameter>,
    runs: &Runs,
    answer: &mut Importance,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Vec<Parameter>> {
    let (trained, beyond) = train(&mut parameters, runs, is_cancelled)?;
    let boxes = &trained.boxes;
    answer.forest_runs = trained.rows;
    answer.r_squared = trained.forest.r_squared;
    answer.trust = answer.r_squared.map(|r_squared| match r_squared {
        _ if r_squared >= GOOD_FIT => Trust::Good,
        _ if r_squared >= BAD_FIT => Trust::Fair,
        _ => Trust::Poor,
    });
    let mut alone = Vec::with_capacity(parameters.len());
    for (parameter, columns) in parameters.iter_mut().zip(&trained.groups) {
        if is_cancelled() {
            return None;
        }
        let shares: Vec<f64> = boxes
            .iter()
            .map(|tree| tree.marginal_variance(columns) / tree.variance())
            .collect();
        let (mean, deviation) = mean_and_deviation(&shares);
        parameter.bar.value = Some(mean);
        parameter.bar.deviation = Some(deviation);
        alone.push(shares);
    }
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    let value = |index: &usize| {
        parameters
            .get(*index)
            .and_then(|parameter| parameter.bar.value)
    };
    order.sort_by(|a, b| {
        value(b)
            .partial_cmp(&value(a))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    order.truncate(PAIRED_PARAMETERS);
    for (at, first) in order.iter().enumerate() {
        for second in order.iter().skip(at + 1) {
            if is_cancelled() {
                return None;
            }
            let columns = [&*trained.groups[*first], &*trained.groups[*second]].concat();
            let trees = boxes.iter().zip(alone[*first].iter().zip(&alone[*second]));
            let shares = trees.map(|(tree, (first, second))| {
                tree.marginal_variance(&columns) / tree.variance() - first - second
            });
            let (value, _) = mean_and_deviation(&shares.collect::<Vec<f64>>());
            let name = |index: usize| parameters[index].bar.name.clone();
            answer.pairs.push(Pair {
                names: [name(*first), name(*second)],
                value,
            });
        }
    }
    answer.pairs.sort_by(|a, b| b.value.total_cmp(&a.value));
    answer.pairs.truncate(MAX_PAIRS);
    for mut parameter in beyond {
        parameter.bar.reason = Some(Reason::BeyondLimit);
        parameters.push(parameter);
    }
    Some(parameters)
}

/// Rows of the forest: all, or the best and an even choice of the others.
fn forest_rows(losses: &[f64]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..losses.len()).collect();
    if rows.len() > MAX_FOREST_RUNS {
        rows.sort_by(|a, b| losses[*a].total_cmp(&losses[*b]));
        let rest = rows.split_off(BEST_FOREST_RUNS);
        let wanted = MAX_FOREST_RUNS - BEST_FOREST_RUNS;
        rows.extend((0..wanted).filter_map(|index| rest.get(index * rest.len() / wanted)));
        rows.sort_unstable();
    }
    rows
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = (values.len() as f64).max(1.0);
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

/// Shortest stretch of values that holds [`WORDS_SHARE`] of the best runs; `None` with fewer than [`MIN_WORDS_RUNS`] of
/// them.
fn stretch(values: &[Option<f64>], is_best: &[bool]) -> Option<Stretch> {
    let best = values.iter().zip(is_best).filter(|(_, is_best)| **is_best);
    let mut best: Vec<f64> = best.filter_map(|(value, _)| *value).collect();
    if best.len() < MIN_WORDS_RUNS {
        return None;
    }
    best.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length is a small number above 0"
    )]
    let wanted = (WORDS_SHARE * best.len() as f64).ceil() as usize;
    let windows = best.windows(wanted);
    let shortest = windows.min_by(|a, b| {
        let len = |window: &[f64]| {
            window
                .last()
                .zip(window.first())
                .map_or(0.0, |(to, from)| to - from)
        };
        len(a).total_cmp(&len(b))
    })?;
    let (from, to) = (*shortest.first()?, *shortest.last()?);
    let runs = best
        .iter()
        .filter(|value| (from..=to).contains(value))
        .count();
    Some(Stretch {
        from,
        to,
        runs,
        of: best.len(),
    })
}
