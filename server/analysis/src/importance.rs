//! Importance of parameters for a result over many runs: correlations, share of variance, reaching the best tenth.

use crate::columns::{CellValue, ColumnFacts, ColumnKind};
use crate::headline::Direction;

pub mod fanova;
pub mod forest;
pub mod ped;
pub mod rank;
mod space;

use fanova::Boxes;
use forest::Forest;
use space::Parameter;

/// Fewest runs that say anything.
pub const LEAST_RUNS: usize = 8;
/// Most runs that a forest is trained on: the best of them, and an even choice of the others.
const MAX_FOREST_RUNS: usize = 2_000;
/// Runs among those that are the best.
const BEST_FOREST_RUNS: usize = 500;
/// Most parameters of a forest.
const MAX_FOREST_PARAMETERS: usize = 64;
/// Pairs are looked for among so many parameters with the greatest shares.
const PAIRED_PARAMETERS: usize = 6;
/// Number of pairs that are listed.
const MAX_PAIRS: usize = 5;
/// Share of the best tenth that the stretch of a parameter in words covers.
const WORDS_SHARE: f64 = 0.8;
/// Fewest best runs for such a stretch.
const LEAST_WORDS_RUNS: usize = 5;
/// Names of parameters that should not matter; if they do, that is a finding.
const ASIDE: [&str; 5] = ["seed", "host", "hostname", "commit", "git_commit"];

/// Measure of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Share of the variance of a random forest that the parameter explains alone (fANOVA), 0 to 1.
    Variance,
    /// Share of what distinguishes the best tenth of the runs from all (PED-ANOVA); shares add up to 1.
    BestTenth,
    /// Rank correlation, −1 to 1; of categories the square root of ε², 0 to 1.
    Rank,
    /// Pearson's r of the numbers as they are, −1 to 1.
    Linear,
}

impl Measure {
    /// All measures, the most telling first.
    pub const ALL: [Self; 4] = [Self::Variance, Self::BestTenth, Self::Rank, Self::Linear];

    /// Fewest runs for which it is shown.
    pub fn least_runs(self) -> usize {
        match self {
            Self::Variance => 30,
            Self::BestTenth => 20,
            Self::Rank => LEAST_RUNS,
            Self::Linear => 3,
        }
    }

    /// Measure for a number of runs unless another is wanted; `None` if they are too few to tell.
    pub fn of_runs(runs: usize) -> Option<Self> {
        let is_enough = |own: &Self| runs >= own.least_runs();
        [Self::Variance, Self::Rank].into_iter().find(is_enough)
    }
}

/// Importance of the parameters for one result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Importance {
    /// Measure of the bars; `None` if there are too few runs for it.
    pub measure: Option<Measure>,
    /// Number of runs with a finite result.
    pub runs: usize,
    /// Number of runs without a result, or with NaN or an infinity there.
    pub left_out: usize,
    /// Coefficient of determination of the forest on runs that its trees have not seen, at most 1.
    pub r_squared: Option<f64>,
    /// Number of runs the forest was trained on.
    pub forest_runs: usize,
    /// A parameter each: those with a value first, the greatest of them first.
    pub bars: Vec<Bar>,
    /// Shares of the variance that two parameters explain together and neither alone; the greatest first.
    pub pairs: Vec<Pair>,
}

/// Importance of one parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Name of the parameter.
    pub name: String,
    /// Parameters that divide the runs in the same way.
    pub same_as: Vec<String>,
    /// Importance in the unit of its measure; `None` for the reason below.
    pub value: Option<f64>,
    /// Standard deviation over the trees.
    pub deviation: Option<f64>,
    /// Number of runs with the parameter and a finite result.
    pub runs: usize,
    /// Reason of the missing value.
    pub reason: Option<Reason>,
    /// `true` for seeds, hosts and commits: they should not matter.
    pub is_aside: bool,
    /// Stretch of the parameter that holds most of the best runs.
    pub best: Option<Stretch>,
}

/// Reason why a parameter has no importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All runs have one value.
    Constant,
    /// More than half of its values differ: it names each run.
    NamesEachRun,
    /// The measure needs numbers.
    NoNumber,
    /// Too few runs have it, or all groups but one are of one run.
    TooFewRuns,
    /// The forest has room for 64 parameters; others correlate more.
    BeyondLimit,
}

/// Two parameters that matter together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Their names.
    pub names: [String; 2],
    /// Share of the variance, 0 to 1.
    pub value: f64,
}

/// Shortest stretch of a parameter that holds 80 % of the best tenth of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Its least value.
    pub from: f64,
    /// Its greatest value.
    pub to: f64,
    /// Number of the best runs in it.
    pub runs: usize,
    /// Number of the best runs.
    pub of: usize,
}

/// Column of a parameter with a value for each run.
#[derive(Clone, Copy, Debug)]
pub struct NamedColumn<'a> {
    /// Name of the parameter.
    pub name: &'a str,
    /// Its values.
    pub cells: &'a [CellValue],
}

/// Importance of parameters for a result that each run has, or lacks. Runs without a finite result are counted and
/// do not enter. `measure` is the wanted one; without it the number of runs decides.
pub fn importance(
    columns: &[NamedColumn<'_>],
    results: &[CellValue],
    direction: Option<Direction>,
    measure: Option<Measure>,
) -> Importance {
    let finite = |cell: &CellValue| cell.number().filter(|number| number.is_finite());
    let rows: Vec<usize> = (0..results.len())
        .filter(|row| results.get(*row).and_then(finite).is_some())
        .collect();
    let results: Vec<f64> = results.iter().filter_map(finite).collect();
    let measure = measure
        .or_else(|| Measure::of_runs(rows.len()))
        .filter(|own| rows.len() >= own.least_runs())
        .filter(|own| *own != Measure::BestTenth || direction.is_some());
    let mut answer = Importance {
        measure,
        runs: rows.len(),
        left_out: columns.first().map_or(0, |own| own.cells.len()) - rows.len(),
        ..Importance::default()
    };
    let (parameters, refused) = parameters(columns, &rows);
    answer.bars = refused;
    let Some(measure) = measure else {
        answer
            .bars
            .splice(0..0, parameters.into_iter().map(|own| own.bar));
        return answer;
    };
    let losses: Vec<f64> = match direction {
        Some(Direction::More) => results.iter().map(|own| -own).collect(),
        _ => results.clone(),
    };
    let is_best = ped::best(&losses);
    let mut judged = match measure {
        Measure::Variance => variance(parameters, &results, &losses, &mut answer),
        Measure::BestTenth => best_tenth(parameters, &is_best),
        Measure::Rank => correlations(parameters, |own| own.rank(&results)),
        Measure::Linear => correlations(parameters, |own| own.linear(&results)),
    };
    for own in &mut judged {
        own.bar.best = direction.and_then(|_| stretch(&own.numbers(), &is_best));
    }
    let mut bars: Vec<Bar> = judged.into_iter().map(|own| own.bar).collect();
    let size = |bar: &Bar| bar.value.map_or(-1.0, f64::abs);
    bars.sort_by(|a, b| {
        size(b)
            .total_cmp(&size(a))
            .then_with(|| a.name.cmp(&b.name))
    });
    answer.bars.splice(0..0, bars);
    answer
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
        let parameter = Parameter::new(bar, &cells, &facts);
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

/// Bars of fANOVA, and pairs.
fn variance(
    mut parameters: Vec<Parameter>,
    results: &[f64],
    losses: &[f64],
    answer: &mut Importance,
) -> Vec<Parameter> {
    let strength = |own: &Parameter| own.rank(results).map_or(0.0, f64::abs);
    parameters.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    let beyond = parameters.split_off(parameters.len().min(MAX_FOREST_PARAMETERS));
    let rows = forest_rows(losses);
    answer.forest_runs = rows.len();
    let results: Vec<f64> = rows
        .iter()
        .filter_map(|row| results.get(*row).copied())
        .collect();
    let space = space::forest_space(&parameters, &rows);
    let forest = Forest::new(&space.columns, &results);
    answer.r_squared = forest.r_squared;
    let boxes = forest
        .trees
        .iter()
        .map(|tree| Boxes::new(tree, &space.bounds));
    let boxes: Vec<Boxes> = boxes.filter(|own| own.variance() > 0.0).collect();
    let mut alone = Vec::with_capacity(parameters.len());
    for (own, columns) in parameters.iter_mut().zip(&space.groups) {
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
            let columns = [&*space.groups[*first], &*space.groups[*second]].concat();
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
    parameters
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
