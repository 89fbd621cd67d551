//! Answer about two runs from the state of their comparison: partings in order, and the sentence.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trainscope_analysis::comparison::measure::{exceeds, is_worse};
use trainscope_analysis::comparison::noise;
use trainscope_analysis::comparison::order::Position;
use trainscope_analysis::comparison::sentence::{Facts, First, Later};
use trainscope_analysis::comparison::{Course, Stair};
use trainscope_analysis::headline;
use trainscope_api::compare::{
    AgainstBase, CompareFault, Names, Outcome, Parting, Reading, ScalarDifference,
};
use trainscope_format::Role;

use super::Options;
use super::cells::{Cell, Cells};
use super::elements::ElementReader;
use super::known::State;
use super::pair::{Pair, TensorPair};
use super::recorded::{Key, RunNames};
use super::scalars::{ScalarCourse, Steps};

/// A first difference with its order.
struct Candidate<'a> {
    key: (i64, Position, &'a Arc<str>, u32),
    parting: Parting,
}

fn parting(name: &Arc<str>, rank: u32, role: Option<Role>, stair: &Stair) -> Parting {
    Parting {
        name: name.to_string(),
        rank,
        role,
        step: stair.step,
        other_step: stair.other_step,
        difference: stair.difference,
        base_value: stair.values.map(|values| values.0),
        other_value: stair.values.map(|values| values.1),
        by_statistics: stair.by_statistics,
    }
}

/// Courses of a tensor: by elements, then by statistics.
fn courses<'a>(
    state: &'a State,
    at: usize,
    tensor: &TensorPair<'_>,
) -> impl Iterator<Item = &'a Course> + use<'a> {
    let by_elements = state.walk.courses.get(at).map(|course| &course.0);
    by_elements.into_iter().chain(state.statistics.of(tensor))
}

/// The answer from the tensors that were read.
pub(super) fn answer(
    pair: &Pair<'_>,
    state: &State,
    options: Options,
    known: &Cells,
    display: &dyn Fn(&str) -> String,
) -> AgainstBase {
    let mut found: Vec<Candidate<'_>> = Vec::new();
    let mut largest: Option<Candidate<'_>> = None;
    let (mut is_same, mut other_shapes) = (true, 0);
    for (at, tensor) in pair.tensors.iter().enumerate() {
        let all: Vec<&Course> = courses(state, at, tensor).collect();
        is_same &= all.iter().all(|course| !course.differs);
        other_shapes += u64::from(all.iter().any(|course| course.has_other_shape));
        let make = |stair: &Stair| Candidate {
            key: (stair.step, tensor.position, tensor.name, tensor.rank),
            parting: parting(tensor.name, tensor.rank, Some(tensor.role), stair),
        };
        let first = all
            .iter()
            .filter_map(|course| course.parting(options.tolerance));
        found.extend(first.min_by_key(|stair| stair.step).map(make));
        for stair in all
            .iter()
            .filter_map(|course| course.largest_within(options.tolerance))
        {
            keep_larger(&mut largest, make(stair));
        }
    }
    let mut scalars = Vec::new();
    for (key, course) in state.scalars.all() {
        is_same &= !course.course.differs;
        let make = |stair: &Stair| Candidate {
            key: (stair.step, Position::of_scalar(), &key.1, key.0),
            parting: parting(&key.1, key.0, None, stair),
        };
        let first = course.course.parting(options.tolerance);
        found.extend(first.map(make));
        if let Some(stair) = course.course.largest_within(options.tolerance) {
            keep_larger(&mut largest, make(stair));
        }
        scalars.push(scalar(key, course, options.tolerance));
    }
    scalars.sort_by_key(|scalar: &ScalarDifference| (scalar.parts.is_none(), scalar.parts));
    found.sort_by(|a, b| a.key.cmp(&b.key));
    let partings: Vec<Parting> = found
        .into_iter()
        .map(|candidate| candidate.parting)
        .collect();
    let steps = steps(pair, state);
    let [only_base, only_other] = only(pair.recorded);
    let mut answer = AgainstBase {
        run: pair.sides[1].run.to_owned(),
        total_partings: partings.len() as u64,
        largest_within: largest.map(|candidate| candidate.parting),
        tensors: pair.tensors.len() as u64,
        scalars_total: scalars.len() as u64,
        other_shapes,
        scalars,
        common_steps: steps[2].all.len() as u64,
        first_step: steps[2].all.first().copied(),
        last_step: steps[2].all.last().copied(),
        missing_steps: lacking(&steps[0], &steps[2]),
        extra_steps: match pair.alignment {
            super::alignment::Alignment::Step => lacking(&steps[1], &steps[2]),
            _ => 0,
        },
        only_base,
        only_other,
        align_fault: pair.align_fault.clone(),
        reading: state.walk.reading,
        progress: state.walk.progress,
        faults: faults(pair, state),
        partings,
        ..AgainstBase::default()
    };
    let mut facts = facts(pair, state, options, known, &answer, is_same, display);
    if answer.partings.first().map(|parting| parting.step) == answer.first_step {
        let (beyond, has_noise) = beyond_noise(pair, state, options.tolerance);
        facts.later = match &beyond {
            Some(beyond) => Later::Beyond(first_of(beyond, display)),
            None if has_noise => Later::Noise,
            None => Later::Unknown,
        };
        answer.beyond = beyond;
    }
    answer.outcome = outcome(&facts);
    answer.sentence = facts.sentence();
    answer.detail = facts.detail();
    answer
}

fn keep_larger<'a>(largest: &mut Option<Candidate<'a>>, candidate: Candidate<'a>) {
    let is_larger = largest
        .as_ref()
        .is_none_or(|known| is_worse(candidate.parting.difference, known.parting.difference));
    if is_larger {
        *largest = Some(candidate);
    }
}

fn scalar(key: &Key, course: &ScalarCourse, tolerance: f64) -> ScalarDifference {
    ScalarDifference {
        tag: key.1.to_string(),
        rank: key.0,
        parts: course.course.parting(tolerance).map(|stair| stair.step),
        points: course.course.compared,
        last_step: course.last.map(|last| last.0),
        base_last: course.last.map(|last| last.1),
        other_last: course.last.map(|last| last.2),
    }
}

/// Steps of the base, of the other run, and compared ones.
fn steps(pair: &Pair<'_>, state: &State) -> [Steps; 3] {
    let mut all = [(); 3].map(|()| Steps::default());
    for (at, merged) in all.iter_mut().enumerate() {
        merged.add(&state.scalars.steps[at].all);
        merged.add(&state.statistics.steps[at].all);
    }
    let mut shared = BTreeSet::new();
    for tensor in &pair.tensors {
        if shared.insert((tensor.elements.as_ptr(), tensor.elements.len())) {
            let steps: Vec<i64> = tensor.elements.iter().map(|aligned| aligned.0).collect();
            all[2].add(&steps);
        }
    }
    for (at, merged) in all.iter_mut().enumerate().take(2) {
        let files = pair.recorded[at].files.as_ref();
        for rank in files.iter().flat_map(|files| files.run.ranks.values()) {
            let since = if at == 0 { pair.since } else { i64::MIN };
            let steps: Vec<i64> = rank.steps.range(since..).map(|entry| *entry.0).collect();
            merged.add(&steps);
        }
    }
    all
}

/// Number of steps that are not compared.
fn lacking(steps: &Steps, compared: &Steps) -> u64 {
    let is_lacking = |step: &&i64| compared.all.binary_search(step).is_err();
    steps.all.iter().filter(is_lacking).count() as u64
}

/// Names in one run only.
fn only(recorded: [&RunNames; 2]) -> [Names; 2] {
    let tensors = recorded.map(|run| names(run.tensors.keys()));
    let scalars = recorded.map(|run| names(run.scalars.keys()));
    let lack = |all: &[BTreeSet<Arc<str>>; 2], at: usize| -> Vec<String> {
        let lacking = all[at].difference(&all[1 - at]);
        lacking.map(ToString::to_string).collect()
    };
    [0, 1].map(|at| {
        let (tensors, scalars) = (lack(&tensors, at), lack(&scalars, at));
        Names {
            total: (tensors.len() + scalars.len()) as u64,
            tensors,
            scalars,
        }
    })
}

fn names<'a>(keys: impl Iterator<Item = &'a Key>) -> BTreeSet<Arc<str>> {
    keys.map(|key| Arc::clone(&key.1)).collect()
}

fn faults(pair: &Pair<'_>, state: &State) -> Vec<CompareFault> {
    let told = state.walk.faults.iter().map(|fault| CompareFault {
        place: fault.place.clone(),
        offset: fault.offset,
        reason: fault.reason.clone(),
    });
    let cut = (0..2).filter(|at| pair.recorded[*at].is_cut);
    let cut = cut.map(|at| CompareFault {
        place: pair.sides[at].run.to_owned(),
        offset: 0,
        reason: "it has more tags than are compared".to_owned(),
    });
    told.chain(cut).collect()
}

/// First difference beyond the noise of runs that differ from the start, at equal steps in a series that was equal
/// before; and true if the noise is known.
fn beyond_noise(pair: &Pair<'_>, state: &State, tolerance: f64) -> (Option<Parting>, bool) {
    let tensors = pair.tensors.iter().enumerate();
    let tensors = tensors.flat_map(|(at, tensor)| {
        let key = (tensor.position, tensor.name, tensor.rank);
        courses(state, at, tensor).map(move |course| (course, key, Some(tensor.role)))
    });
    let scalars = state.scalars.all().map(|(key, scalar)| {
        let key = (Position::of_scalar(), &key.1, key.0);
        (&scalar.course, key, None)
    });
    let all: Vec<_> = tensors.chain(scalars).collect();
    let Some(level) = noise::level(all.iter().map(|course| course.0)) else {
        return (None, false);
    };
    let found = all.iter().filter_map(|(course, key, role)| {
        let onset = course.beyond(level)?;
        let order = (onset.stair.step, exceeds(onset.noise, tolerance), *key);
        Some((order, parting(key.1, key.2, *role, &onset.stair)))
    });
    let first = found.min_by(|a, b| a.0.cmp(&b.0));
    (first.map(|candidate| candidate.1), true)
}

/// The first scalar value that is not finite in one run only, preferably of the loss: index of that run, value, step
/// and name.
fn not_finite(
    state: &State,
    display: &dyn Fn(&str) -> String,
) -> Option<(usize, f64, i64, String)> {
    let all = state.scalars.all().filter_map(|(key, scalar)| {
        let odd = |stair: &&Stair| !stair.difference.is_finite();
        let stair = scalar.course.stairs.iter().find(odd)?;
        let (base, other) = stair.values?;
        let (run, value) = if base.is_finite() {
            (1, other)
        } else {
            (0, base)
        };
        Some((&key.1, (run, value, stair.step)))
    });
    let all: Vec<_> = all.collect();
    let loss = headline::loss(all.iter().map(|scalar| &**scalar.0));
    let first = all
        .iter()
        .min_by_key(|scalar| (Some(&**scalar.0) != loss, scalar.1.2))?;
    let (name, (run, value, step)) = *first;
    Some((run, value, step, display(name)))
}

fn first_of(parting: &Parting, display: &dyn Fn(&str) -> String) -> First {
    First {
        step: parting.step,
        name: display(&parting.name),
        role: parting.role,
        difference: parting.difference,
        by_statistics: parting.by_statistics,
        has_other_shape: false,
    }
}

/// Facts for the sentence.
fn facts(
    pair: &Pair<'_>,
    state: &State,
    options: Options,
    known: &Cells,
    answer: &AgainstBase,
    is_same: bool,
    display: &dyn Fn(&str) -> String,
) -> Facts {
    let first = answer.partings.first();
    let tags = answer
        .partings
        .iter()
        .filter(|parting| parting.role.is_none());
    let loss = headline::loss(tags.clone().map(|parting| &*parting.name));
    let scalar = tags
        .clone()
        .find(|parting| Some(&*parting.name) == loss)
        .or(tags.clone().next());
    let side = |names: &Names| {
        let example = names.tensors.first().or(names.scalars.first());
        (names.total, example.map(|name| display(name)))
    };
    let is_reading = answer.reading == Reading::Going;
    Facts {
        runs: pair.sides.map(|side| display(side.title)),
        tolerance: options.tolerance,
        elsewhere: first.and_then(|first| elsewhere(pair, known, &answer.partings, first)),
        scalar: scalar.and_then(|parting| {
            Some((
                display(&parting.name),
                parting.step,
                parting.base_value?,
                parting.other_value?,
            ))
        }),
        first: first.map(|parting| First {
            has_other_shape: parting.difference.is_infinite()
                && has_other_shape(pair, known, parting),
            ..first_of(parting, display)
        }),
        not_finite: not_finite(state, display),
        later: Later::Unknown,
        largest: answer
            .largest_within
            .as_ref()
            .map(|parting| (parting.difference, parting.step, display(&parting.name))),
        is_same,
        tensors: answer.tensors,
        tensors_part: answer.partings.iter().any(|parting| parting.role.is_some()),
        other_shapes: answer.other_shapes,
        scalars: answer.scalars_total,
        common_steps: answer.common_steps,
        steps: answer.first_step.zip(answer.last_step),
        only: [side(&answer.only_base), side(&answer.only_other)],
        is_growing: pair.recorded.iter().any(|names| names.is_growing),
        read_until: is_reading.then_some(state.walk.read_until),
        settings: settings(pair),
    }
}

/// Number of differing settings without paths, and number of all.
fn settings(pair: &Pair<'_>) -> (u64, u64) {
    let all = super::settings(&pair.sides.map(|side| side.row));
    let differ = all
        .iter()
        .filter(|setting| setting.differs && !setting.is_path);
    (differ.count() as u64, all.len() as u64)
}

/// Kept differences of the tensors at a step of the base.
fn cells_at<'a>(
    pair: &'a Pair<'a>,
    known: &'a Cells,
    step: i64,
) -> impl Iterator<Item = (&'a TensorPair<'a>, Cell)> {
    let reader = ElementReader::new(pair, known, &CancellationToken::new());
    pair.tensors.iter().filter_map(move |tensor| {
        let at = tensor
            .elements
            .binary_search_by_key(&step, |aligned| aligned.0)
            .ok()?;
        Some((tensor, reader.kept(tensor, tensor.elements[at])?))
    })
}

/// The worst difference in other tensors at the step of the first parting, if any.
fn elsewhere(pair: &Pair<'_>, known: &Cells, partings: &[Parting], first: &Parting) -> Option<f64> {
    first.role?;
    let others = cells_at(pair, known, first.step)
        .filter(|(tensor, _)| (tensor.rank, &**tensor.name) != (first.rank, &*first.name));
    let sizes = others.filter_map(|(_, cell)| match cell {
        Cell::Difference { value, .. } => Some(value),
        Cell::OtherShape | Cell::Fault => None,
    });
    let parted = partings.iter().skip(1);
    let parted = parted.filter(|parting| parting.role.is_some() && parting.step == first.step);
    let sizes = sizes.chain(parted.map(|parting| parting.difference));
    let worst = sizes.reduce(|worst, size| if is_worse(size, worst) { size } else { worst });
    worst.filter(|worst| is_worse(*worst, 0.0))
}

fn has_other_shape(pair: &Pair<'_>, known: &Cells, first: &Parting) -> bool {
    cells_at(pair, known, first.step).any(|(tensor, cell)| {
        cell == Cell::OtherShape && (tensor.rank, &**tensor.name) == (first.rank, &*first.name)
    })
}

fn outcome(facts: &Facts) -> Outcome {
    match &facts.first {
        Some(_) if facts.is_in_scalars_only() => Outcome::PartInScalars,
        Some(_) => Outcome::Part,
        None if facts.tensors + facts.scalars == 0 || facts.common_steps == 0 => Outcome::Nothing,
        None if facts.read_until.is_some() => Outcome::Unread,
        None if facts.is_growing => Outcome::SoFar,
        None if facts.largest.is_some() => Outcome::Within,
        None => Outcome::Same,
    }
}
