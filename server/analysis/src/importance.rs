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

/// Fewest runs that say anything.
pub const LEAST_RUNS: usize = 8;
/// Most runs that a forest is trained on: the best of them, and an even choice of the others.
const MAX_FOREST_RUNS: usize = 2_000;
/// Runs among those that are the best.
const BEST_FOREST_RUNS: usize = 500;
/// Most parameters of a forest.
const MAX_FOREST_PARAMETERS: usize = 64;
/// Number of parameters with the greatest shares, among which pairs are looked for.
const PAIRED_PARAMETERS: usize = 6;
/// Number of pairs that are listed.
const MAX_PAIRS: usize = 5;
/// Share of the best tenth that the stretch of a parameter in words covers.
const WORDS_SHARE: f64 = 0.8;
/// Fewest best runs for such a stretch.
const LEAST_WORDS_RUNS: usize = 5;
/// Names of parameters that should not matter; if they do, that is a finding.
const ASIDE: [&str; 5] = ["seed", "host", "hostname", "commit", "git_commit"];
/// Minimum coefficient of determination of a forest that explains its result.
const GOOD_FIT: f64 = 0.5;
/// Coefficient of determination below which a forest explains nothing.
const BAD_FIT: f64 = 0.2;

/// Fewest runs for which a measure is shown.
pub fn least_runs(measure: Measure) -> usize {
    match measure {
        Measure::Variance => 30,
        Measure::BestTenth => 20,
        Measure::Rank => LEAST_RUNS,
        Measure::Linear => 3,
    }
}

/// Measure for a number of runs unless another is wanted; `None` if they are too few to tell.
pub fn measure_of_runs(runs: usize) -> Option<Measure> {
    let is_enough = |own: &Measure| runs >= least_runs(*own);
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
    /// Least and greatest number that the experiment declares; `None` for those of its values.
    pub domain: Option<(f64, f64)>,
}

/// Values of the runs that a judgement is about.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Parameters, all with as many values as there are results.
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
    /// Results of which less is better.
    losses: Vec<f64>,
}

impl Question<'_> {
    fn runs(&self) -> Runs {
        let finite = |cell: &CellValue| cell.number().filter(|number| number.is_finite());
        let own = self.results.iter().enumerate();
        let (rows, results): (Vec<usize>, Vec<f64>) = own
            .filter_map(|(row, cell)| Some((row, finite(cell)?)))
            .unzip();
        let losses = match self.direction {
            Some(Direction::More) => results.iter().map(|own| -own).collect(),
            _ => results.clone(),
        };
        Runs {
            rows,
            results,
            losses,
        }
    }
}

/// Importance of parameters for a result. Runs without a finite result are counted and do not enter. `measure` is the
/// wanted one; without it the number of runs decides. `None` after `is_cancelled` was true; it is called many times a
/// second.
pub fn importance(
    question: &Question<'_>,
    measure: Option<Measure>,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Importance> {
    let runs = question.runs();
    let measure = measure
        .or_else(|| measure_of_runs(runs.rows.len()))
        .filter(|own| runs.rows.len() >= least_runs(*own))
        .filter(|own| *own != Measure::BestTenth || question.direction.is_some());
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
            .splice(0..0, parameters.into_iter().map(|own| own.bar));
        return Some(answer);
    };
    let is_best = ped::best(&runs.losses);
    let mut judged = match measure {
        Measure::Variance => variance(parameters, &runs, &mut answer, is_cancelled)?,
        Measure::BestTenth => best_tenth(parameters, &is_best),
        Measure::Rank => correlations(parameters, |own| own.rank(&runs.results)),
        Measure::Linear => correlations(parameters, |own| own.linear(&runs.results)),
    };
    for own in &mut judged {
        let has_end = question.direction.is_some();
        own.bar.best = has_end.then(|| stretch(&own.numbers(), &is_best)).flatten();
    }
    let mut bars: Vec<Bar> = judged.into_iter().map(|own| own.bar).collect();
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
                .any(|own| name == *own || name.ends_with(&format!(".{own}"))),
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
            .find(|own| own.divides_like(&parameter))
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
    for own in &mut parameters {
        match measure(own) {
            Ok(value) => own.bar.value = Some(value),
            Err(reason) => own.bar.reason = Some(reason),
        }
    }
    parameters
}

/// Bars of PED-ANOVA as shares of their sum.
fn best_tenth(mut parameters: Vec<Parameter>, is_best: &[bool]) -> Vec<Parameter> {
    let raw: Vec<f64> = parameters
        .iter()
        .map(|own| ped::importance(&own.grid(), is_best))
        .collect();
    let sum: f64 = raw.iter().sum();
    for (own, raw) in parameters.iter_mut().zip(raw) {
        own.bar.value = Some(if sum > 0.0 { raw / sum } else { 0.0 });
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
    let strength = |own: &Parameter| own.rank(&runs.results).map_or(0.0, f64::abs);
    parameters.sort_by_cached_key(|own| std::cmp::Reverse(strength(own).to_bits()));
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
    boxes.retain(|own| own.variance() > 0.0);
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
    answer.trust = answer.r_squared.map(|own| match own {
        _ if own >= GOOD_FIT => Trust::Good,
        _ if own >= BAD_FIT => Trust::Fair,
        _ => Trust::Poor,
    });
    let mut alone = Vec::with_capacity(parameters.len());
    for (own, columns) in parameters.iter_mut().zip(&trained.groups) {
        if is_cancelled() {
            return None;
        }
        let shares: Vec<f64> = boxes
            .iter()
            .map(|tree| tree.marginal_variance(columns) / tree.variance())
            .collect();
        let (mean, deviation) = mean_and_deviation(&shares);
        own.bar.value = Some(mean);
        own.bar.deviation = Some(deviation);
        alone.push(shares);
    }
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    let value = |index: &usize| parameters.get(*index).and_then(|own| own.bar.value);
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
    for mut own in beyond {
        own.bar.reason = Some(Reason::BeyondLimit);
        parameters.push(own);
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
    let squares: f64 = values.iter().map(|own| (own - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

/// Shortest stretch of values that holds most of the best runs; `None` with fewer than five of them.
fn stretch(values: &[Option<f64>], is_best: &[bool]) -> Option<Stretch> {
    let best = values.iter().zip(is_best).filter(|(_, is_best)| **is_best);
    let mut best: Vec<f64> = best.filter_map(|(value, _)| *value).collect();
    if best.len() < LEAST_WORDS_RUNS {
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
        let len = |own: &[f64]| {
            own.last()
                .zip(own.first())
                .map_or(0.0, |(to, from)| to - from)
        };
        len(a).total_cmp(&len(b))
    })?;
    let (from, to) = (*shortest.first()?, *shortest.last()?);
    let runs = best.iter().filter(|own| (from..=to).contains(own)).count();
    Some(Stretch {
        from,
        to,
        runs,
        of: best.len(),
    })
}
