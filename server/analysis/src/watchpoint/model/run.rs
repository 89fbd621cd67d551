//! A run for judgements: tensors in data-flow order, scalars by meaning, and the course of the loss.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::history::Digest;
use super::knowledge::{Knowledge, Places};
use super::missing::Missing;
use super::profile::{Outcome, ProfileJudgement};
use super::scalars::{FEWEST, Meaning, OtherScalar, Series, TINY, median};
use super::steps::Steps;
use super::subject::{Class, Family, Subject};
use super::tensor::{Episode, Tensor};
use crate::diagnosis::Remark;
use crate::trace::advice::Rule;

/// Phases of a step in the order of its data flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// State before the step: weights and buffers.
    State,
    /// The batch.
    Inputs,
    /// Forward pass, and every operator of a graph of the whole step.
    Forward,
    /// The loss, and the learning rate of the update.
    Loss,
    /// Gradients: those of a layer come after those of the layers it feeds.
    Backward,
    /// State of the optimizer, and weights after the update.
    Update,
    /// Measurements after the step.
    Late,
}

/// Position within a step: phase, and place in that phase.
pub(crate) type Flow = (Phase, i64);

/// A tensor, the results of a formula for it, and the reasons why it could not be judged, with first step and number
/// of steps.
type TensorMemory<'a> = (&'a Tensor, &'a [Episode], &'a [(Missing, i64, u64)]);

/// All data and context of a run.
pub(crate) struct Run<'a> {
    pub(crate) tensors: &'a [Tensor],
    /// Tensors with a recorded histogram, including those in `tensors`.
    pub(crate) histograms: &'a [Tensor],
    scalars: &'a [Series],
    others: &'a [OtherScalar],
    pub(crate) knowledge: &'a Knowledge,
    pub(crate) places: Places<'a>,
    pub(crate) ranks: Vec<u32>,
    pub(crate) steps: &'a Steps,
    /// Findings of the guided diagnosis about the program.
    pub(crate) remarks: &'a [Remark],
    /// Judged profiles by rank.
    pub(crate) profiles: &'a BTreeMap<u32, ProfileJudgement>,
    /// Index into the judgements of a profile, by watchpoint.
    profile_places: &'a [usize],
    /// Indices of tensors by [`key_of`].
    by_name: HashTable<u32>,
    hasher: RandomState,
    /// The scalar that most likely has a meaning, by rank: each of thousands of losses asks for it.
    likely: HashMap<(u32, Meaning), &'a Series, RandomState>,
    /// The layer whose output is the input of the model, by its position and not its name.
    input: Option<&'a str>,
    /// Loss of guessing by rank.
    guesses: OnceCell<BTreeMap<u32, Option<f64>>>,
    /// Layers in the order of their first record.
    recorded: LayerOrder,
}

pub(crate) struct RunData<'a> {
    pub(crate) tensors: &'a [Tensor],
    pub(crate) histograms: &'a [Tensor],
    pub(crate) scalars: &'a [Series],
    pub(crate) others: &'a [OtherScalar],
    pub(crate) remarks: &'a [Remark],
    pub(crate) profiles: &'a BTreeMap<u32, ProfileJudgement>,
    pub(crate) profile_places: &'a [usize],
}

impl<'a> Run<'a> {
    pub(crate) fn new(recorded: &RunData<'a>, knowledge: &'a Knowledge, steps: &'a Steps) -> Self {
        let &RunData {
            tensors,
            histograms,
            scalars,
            others,
            remarks,
            profiles,
            profile_places,
        } = recorded;
        let of_tensors = tensors.iter().map(|t| t.rank);
        let of_scalars = scalars.iter().map(|s| s.rank);
        let mut ranks: BTreeSet<u32> = of_tensors.chain(of_scalars).collect();
        ranks.extend(histograms.iter().map(|t| t.rank));
        ranks.extend(others.iter().map(|o| o.rank));
        ranks.extend(profiles.keys());
        let mut likely: HashMap<(u32, Meaning), &Series, RandomState> = HashMap::default();
        for series in scalars {
            let best = likely
                .entry((series.rank, series.meaning))
                .or_insert(series);
            if (series.doubt, &series.tag) < (best.doubt, &best.tag) {
                *best = series;
            }
        }
        let (mut by_name, hasher) = (HashTable::<u32>::new(), RandomState::default());
        let key_at = |index: u32| tensors.get(index as usize).map(key_of);
        let mut order = LayerOrder::default();
        for (index, tensor) in (0..).zip(tensors) {
            let entry = by_name.entry(
                hasher.hash_one(key_of(tensor)),
                |&other| key_at(other) == Some(key_of(tensor)),
                |&other| key_at(other).map_or(0, |key| hasher.hash_one(key)),
            );
            entry.or_insert(index);
            order.add((tensors, histograms), index);
        }
        let mut first_layers = knowledge.first_layers.iter().map(|name| &**name);
        let input = first_layers.find(|name| order.of((tensors, histograms), name).is_some());
        for (index, _) in (tensors.len()..).zip(histograms) {
            order.add(
                (tensors, histograms),
                u32::try_from(index).unwrap_or(u32::MAX),
            );
        }
        Self {
            tensors,
            histograms,
            scalars,
            likely,
            others,
            knowledge,
            places: knowledge.places(),
            ranks: ranks.into_iter().collect(),
            steps,
            remarks,
            profiles,
            profile_places,
            by_name,
            hasher,
            input,
            guesses: OnceCell::new(),
            recorded: order,
        }
    }

    pub(crate) fn of_class(&self, rank: u32, class: Class) -> impl Iterator<Item = &'a Tensor> {
        let all = self.tensors.iter();
        let input = self.input;
        all.filter(move |t| t.rank == rank && class_at(t, input) == class)
    }

    /// Class of a tensor: the output of a layer that passes the input of the model on is an input.
    pub(crate) fn class(&self, tensor: &Tensor) -> Class {
        class_at(tensor, self.input)
    }

    /// True if an accuracy of a rank was recorded.
    pub(crate) fn has_accuracy(&self, rank: u32) -> bool {
        [Meaning::Accuracy, Meaning::HeldOutAccuracy]
            .iter()
            .any(|meaning| self.scalar(rank, *meaning).is_some())
    }

    /// The tensor of another class that belongs to the same parameter or layer: a weight's gradient, for example.
    pub(crate) fn partner(&self, tensor: &Tensor, class: Class) -> Option<&'a Tensor> {
        let Subject { module, leaf, .. } = &tensor.subject;
        self.find(tensor.rank, class, module, leaf)
    }

    pub(crate) fn find(
        &self,
        rank: u32,
        class: Class,
        module: &str,
        leaf: &str,
    ) -> Option<&'a Tensor> {
        let key = (rank, class, module, leaf);
        let is_it = |&index: &u32| self.tensors.get(index as usize).map(key_of) == Some(key);
        let index = self.by_name.find(self.hasher.hash_one(key), is_it)?;
        self.tensors.get(*index as usize)
    }

    pub(crate) fn family(&self, tensor: &Tensor) -> Family {
        self.knowledge.family_of(&tensor.subject)
    }

    /// The scalar that most likely has this meaning.
    pub(crate) fn scalar(&self, rank: u32, meaning: Meaning) -> Option<&'a Series> {
        let of_rank = |rank| self.likely.get(&(rank, meaning)).copied();
        // Often one rank alone writes scalars.
        of_rank(rank).or_else(|| self.ranks.first().and_then(|first| of_rank(*first)))
    }

    pub(crate) fn scalars(&self, meaning: Meaning) -> impl Iterator<Item = &'a Series> {
        self.scalars.iter().filter(move |s| s.meaning == meaning)
    }

    /// Numbers of scalars of known meaning, and of others, counted per rank.
    pub(crate) fn scalar_counts(&self) -> (u64, u64) {
        (self.scalars.len() as u64, self.others.len() as u64)
    }

    /// All scalars of known meaning.
    pub(crate) fn series(&self) -> impl Iterator<Item = &'a Series> {
        self.scalars.iter()
    }

    /// Scalars of unknown meaning.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'a OtherScalar> {
        self.others.iter()
    }

    /// The tensor of a histogram, if its elements or their statistics were also recorded.
    pub(crate) fn in_full(&self, histogram: &Tensor) -> Option<&'a Tensor> {
        let Subject {
            class,
            module,
            leaf,
            ..
        } = &histogram.subject;
        self.find(histogram.rank, *class, module, leaf)
    }

    pub(crate) fn loss(&self, rank: u32) -> Option<Loss<'a>> {
        let series = self.scalar(rank, Meaning::Loss)?;
        let accuracy = self.scalar(rank, Meaning::Accuracy);
        let begun = accuracy.and_then(|a| median(a.values.iter().copied().take(FIRST_POINTS)));
        Loss::of(
            series,
            high_level(self, series),
            begun.is_none_or(|a| a > GOOD_ACCURACY),
        )
    }

    /// Position of a tensor within its step.
    pub(crate) fn flow(&self, tensor: &Tensor) -> Flow {
        let place = i64::from(self.place(&tensor.subject.module));
        // Operators of a graph run in one order, forward and backward.
        if let (false, Some(place)) = (tensor.op.is_empty(), self.places.of(&tensor.subject.module))
            && &*tensor.op != "Parameter"
        {
            return (Phase::Forward, i64::from(place));
        }
        match self.class(tensor) {
            // A `Parameter` of a dump is the state after the optimizer's update.
            Class::Weight | Class::FrozenWeight | Class::Buffer if &*tensor.op == "Parameter" => {
                (Phase::Update, place)
            }
            Class::Weight | Class::FrozenWeight | Class::Buffer => (Phase::State, place),
            Class::Input | Class::Labels => (Phase::Inputs, 0),
            Class::Activation | Class::Other => (Phase::Forward, place),
            Class::Loss => LOSS_FLOW,
            Class::ActivationGradient => (Phase::Backward, -2 * place),
            Class::Gradient => (Phase::Backward, -2 * place + 1),
            Class::OptimizerState => (Phase::Update, place),
        }
    }

    /// Place of the layer of a tensor in forward order.
    pub(crate) fn place_of(&self, tensor: &Tensor) -> i64 {
        i64::from(self.place(&tensor.subject.module))
    }

    /// Known place, otherwise the order of recording, after all known places.
    fn place(&self, module: &str) -> u32 {
        self.places.of(module).unwrap_or_else(|| {
            let known = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let recorded = self.recorded.of((self.tensors, self.histograms), module);
            let recorded = recorded.unwrap_or(u32::MAX);
            known.saturating_add(recorded)
        })
    }

    /// Results of a watchpoint's formula, and reasons why it could not be judged.
    pub(crate) fn memories(&self, watchpoint: u32) -> impl Iterator<Item = TensorMemory<'a>> {
        self.tensors.iter().flat_map(move |tensor| {
            let of_tensor = tensor
                .memories
                .iter()
                .filter(move |m| m.watchpoint == watchpoint);
            of_tensor.map(move |m| (tensor, m.episodes(), &*m.missing))
        })
    }

    /// Results of a rule for all profiles, by the limits of the watchpoint of that index.
    pub(crate) fn profile_outcomes(
        &self,
        index: u32,
        rule: Rule,
    ) -> impl Iterator<Item = (&'a ProfileJudgement, Outcome<'a>)> {
        let place = self.profile_places.get(index as usize).copied();
        let profiles = self.profiles.values();
        profiles.filter_map(move |profile| Some((profile, profile.outcome(rule, place?)?)))
    }

    /// Number of outputs of the model per sample or position, if known: the width of its last layer. That is the last
    /// axis of a matrix or a sequence, and the second of images.
    pub(crate) fn classes(&self, rank: u32) -> Option<u64> {
        let shape = &self.answer(rank)?.shape;
        let axis = match shape.len() {
            2 | 3 => shape.len() - 1,
            4 | 5 => 1,
            _ => return None,
        };
        shape.get(axis).copied().filter(|classes| *classes >= 2)
    }

    /// Output of the last layer.
    fn answer(&self, rank: u32) -> Option<&'a Tensor> {
        self.of_class(rank, Class::Activation)
            .filter(|t| self.places.of(&t.subject.module).is_some())
            .max_by_key(|t| self.flow(t))
    }

    /// Computes [`chance`].
    fn guessing(&self, rank: u32) -> Option<f64> {
        let has_accuracy = self.has_accuracy(rank);
        let answer = self.answer(rank)?;
        let is_binary = answer.shape.last() == Some(&1) && has_accuracy;
        let classes = match self.classes(rank) {
            Some(classes) => classes,
            None if is_binary => 2,
            None => return None,
        };
        let guess = (classes as f64).ln();
        if has_accuracy && answer.shape.len() == 2 && !is_binary {
            return Some(guess);
        }
        let loss = self.scalar(rank, Meaning::Loss)?;
        if loss.is_relative() || self.scalar(rank, Meaning::Return).is_some() {
            return None;
        }
        let first = median(
            loss.values
                .iter()
                .copied()
                .filter(|v| v.is_finite())
                .take(FEWEST),
        )?;
        let samples = answer.shape.iter().product::<u64>() / classes;
        let mut labels = self.of_class(rank, Class::Labels);
        let has_labels = labels.any(|t| !is_float(t) && t.shape.iter().product::<u64>() == samples);
        // Dense outputs without labels are reconstructions as often as classes.
        let limit = if has_accuracy || has_labels {
            NEAR_WITH_LABELS
        } else if answer.shape.len() <= 3 {
            NEAR
        } else {
            return None;
        };
        ((first / guess - 1.0).abs() < limit).then_some(guess)
    }
}

/// Layers in the order of their first record: a fifth of the memory of a map by their names.
#[derive(Default)]
struct LayerOrder {
    /// The first tensor of each layer, among the tensors and the histograms after them, and the layer's number.
    firsts: HashTable<(u32, u32)>,
    hasher: RandomState,
}

/// Tensors and histograms of a run.
type LayerTable<'a> = (&'a [Tensor], &'a [Tensor]);

impl LayerOrder {
    fn add(&mut self, recorded: LayerTable<'_>, index: u32) {
        let module = module_at(recorded, index);
        let next = u32::try_from(self.firsts.len()).unwrap_or(u32::MAX);
        let entry = self.firsts.entry(
            self.hasher.hash_one(module),
            |first| module_at(recorded, first.0) == module,
            |first| self.hasher.hash_one(module_at(recorded, first.0)),
        );
        entry.or_insert((index, next));
    }

    /// The number of a layer.
    fn of(&self, recorded: LayerTable<'_>, module: &str) -> Option<u32> {
        let is_it = |first: &(u32, u32)| module_at(recorded, first.0) == module;
        let first = self.firsts.find(self.hasher.hash_one(module), is_it);
        first.map(|first| first.1)
    }
}

fn module_at((tensors, histograms): LayerTable<'_>, index: u32) -> &str {
    let index = index as usize;
    let tensor = match index.checked_sub(tensors.len()) {
        Some(after) => histograms.get(after),
        None => tensors.get(index),
    };
    tensor.map_or("", |tensor| &*tensor.subject.module)
}

/// A fault of the program exists before anything runs.
pub(crate) const PROGRAM_FLOW: Flow = (Phase::State, i64::MIN);

/// Identifies a tensor among those of a run: rank, class, layer and parameter.
fn key_of(tensor: &Tensor) -> (u32, Class, &str, &str) {
    let subject = &tensor.subject;
    (tensor.rank, subject.class, &subject.module, &subject.leaf)
}

fn class_at(tensor: &Tensor, input: Option<&str>) -> Class {
    let class = tensor.subject.class;
    if class == Class::Activation && input == Some(&*tensor.subject.module) {
        Class::Input
    } else {
        class
    }
}

/// Maximum distance of the first loss from the logarithm of the number of classes for a cross-entropy: an initialized
/// classifier starts there, as its logits are near 0. Used without accuracy and labels. Chosen: a regression's first
/// loss is seldom as close by chance.
const NEAR: f64 = 0.05;
/// The same with a recorded accuracy or integer labels. Chosen: the first recorded losses may be averages over a
/// hundred steps, in which a quarter is learned.
const NEAR_WITH_LABELS: f64 = 0.25;

/// The loss comes between the forward and the backward pass.
pub(crate) const LOSS_FLOW: Flow = (Phase::Loss, 0);
/// Measurements after a step.
pub(crate) const LATE_FLOW: Flow = (Phase::Late, 0);

/// Share of its initial value below which a loss counts as learned. Chosen.
const LEARNED: f64 = 0.8;
/// Loss in nats that is low at any scale: a cross-entropy of 0.1 gives the right class a probability of e^-0.1 = 0.9.
pub(crate) const LOW_LOSS: f64 = 0.1;
/// Share of [`high_level`] above which a loss is high, as most is left to learn. Chosen.
pub(crate) const HIGH_SHARE: f64 = 0.5;
/// Share of [`high_level`] below which few samples make up most of a loss, so that its factors say little. Chosen.
pub(crate) const FEW_SAMPLES_SHARE: f64 = 0.3;
/// Number of first points whose median is the level at the beginning. Chosen.
const FIRST_POINTS: usize = 5;
/// First accuracy above which a model may have been good from the start: more than guessing of two classes.
/// Chosen.
const GOOD_ACCURACY: f64 = 0.6;
/// The first tenth of the points is the beginning of a loss, with a minimum and a maximum number of points; the last
/// quarter is its end. Chosen.
const BEGINNING_DIVISOR: usize = 10;
const BEGINNING_POINTS: [usize; 2] = [FEWEST, 20];
const END_DIVISOR: usize = 4;
/// Size of a loss below which factors between losses say nothing. Chosen.
const NO_LOSS: f64 = 1e-6;
/// Bounds of a loss of guessing, relative to [`chance`]: a little below it by unequal classes, above it by weights that
/// are too large. Chosen.
const GUESSING: std::ops::Range<f64> = 0.85..1.4;
/// Parts of a curve whose medians are compared: beginning, middle and end.
pub(crate) const PARTS: usize = 3;
/// Minimum number of points of a flat loss: three medians of [`FEWEST`].
const MIN_FLAT_POINTS: usize = 9;

/// Course of the loss of a rank.
pub(crate) struct Loss<'a> {
    pub(crate) series: &'a Series,
    /// The median of the first points.
    pub(crate) initial: f64,
    /// The median of the last quarter.
    pub(crate) last: f64,
    /// Level below which any value is harmless.
    low: f64,
    /// True if the model may have been good from the start, judging by its accuracy.
    may_begin_good: bool,
    /// Largest magnitude up to each point: losses may be negative.
    worst: Vec<f64>,
}

impl<'a> Loss<'a> {
    fn of(series: &'a Series, high: f64, may_begin_good: bool) -> Option<Self> {
        let finite = || series.values.iter().copied().filter(|v| v.is_finite());
        let count = finite().count();
        let [fewest, most] = BEGINNING_POINTS;
        let initial = median(finite().take((count / BEGINNING_DIVISOR).clamp(fewest, most)))?;
        let last = (count / END_DIVISOR).max(FEWEST).min(count);
        let last = median(finite().skip(count - last))?;
        Some(Self {
            series,
            initial,
            last,
            low: HIGH_SHARE * high,
            may_begin_good,
            worst: series
                .values
                .iter()
                .scan(f64::NEG_INFINITY, |worst, value| {
                    if value.is_finite() {
                        *worst = worst.max(value.abs());
                    }
                    Some(*worst)
                })
                .collect(),
        })
    }

    /// True if it is much lower at the end than at the beginning, or was low from the start, which may also be its
    /// scale.
    pub(crate) fn has_learned(&self) -> bool {
        self.last < LEARNED * self.initial || self.initial.abs() < LOW_LOSS && self.may_begin_good
    }

    /// Last step of successful minimization: that of its lowest median of three points, if that is much lower than the
    /// beginning; `None` if it never was.
    pub(crate) fn learned_until(&self) -> Option<i64> {
        let middle = |w: &[f64]| median(w.iter().copied()).unwrap_or(f64::INFINITY);
        let levels = self.series.values.windows(FEWEST).map(middle).enumerate();
        let (at, best) = levels.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let step = self.series.steps.get(at + 1).copied()?;
        (at > 0 && best < LEARNED * self.initial).then_some(step)
    }

    /// True if it gets much worse soon after `step`: higher than ever before by that factor, or not finite.
    pub(crate) fn is_hurt_after(&self, step: i64, within: usize, factor: f64) -> bool {
        let known = self.series.until(step).len();
        let worst = known.checked_sub(1).and_then(|last| self.worst.get(last));
        let worst = worst.copied().unwrap_or(f64::NEG_INFINITY);
        let mut soon = self.series.after(step).take(within).enumerate();
        soon.any(|(after, (_, v))| {
            let is_worse = worst.is_finite() && v > factor * worst.max(NO_LOSS);
            // A later non-finite value may have another cause.
            !v.is_finite() && after < 1 || is_worse && v > self.low
        })
    }
}

/// True for floating-point tensors, in which the size of numbers is meaningful.
pub(crate) fn is_float(tensor: &Tensor) -> bool {
    tensor.dtype.min_normal_exponent().is_some()
}

pub(crate) fn with_before(tensor: &Tensor, step: i64) -> Option<(&Digest, &Digest)> {
    tensor.history.at_with_before(step)
}

/// True if a classifier does no better than guessing all the time.
pub(crate) fn at_chance(run: &Run<'_>, rank: u32) -> bool {
    let Some(chance) = chance(run, rank) else {
        return false;
    };
    let loss = run.loss(rank);
    let near = |level: f64| GUESSING.contains(&(level / chance));
    loss.is_some_and(|l| near(l.last) && near(l.initial))
}

/// The loss of an untrained classifier, per sample or position of a sequence: the logarithm of the number of classes.
/// A classifier is recognised by an accuracy, integer labels, or the first loss itself.
pub(crate) fn chance(run: &Run<'_>, rank: u32) -> Option<f64> {
    let guesses = run.guesses.get_or_init(|| {
        let ranks = run.ranks.iter();
        ranks.map(|rank| (*rank, run.guessing(*rank))).collect()
    });
    guesses.get(&rank).copied().flatten()
}

/// True if a loss moves by no more than a share from one third of its points to the next and from the first to the
/// last, and at the end has not come down from its first points either.
pub(crate) fn is_flat(series: &Series, points: usize, share: f64) -> bool {
    let values = series.values.iter().copied().filter(|v| v.is_finite());
    let values: Vec<f64> = values.collect();
    if values.len() < points.max(MIN_FLAT_POINTS) {
        return false;
    }
    let level = |of: &[f64]| median(of.iter().copied()).unwrap_or(f64::NAN);
    let third = values.len() / PARTS;
    let (begun, first) = (level(&values[..FEWEST]), level(&values[..third]));
    let last = level(&values[values.len() - third..]);
    let size = first.abs().max(TINY);
    (first - last).abs() <= share * size && begun - last <= 2.0 * share * size
}

/// The level below which a loss is low regardless of its course: that of guessing, or, if that is unknown, its start.
pub(crate) fn high_level(run: &Run<'_>, series: &Series) -> f64 {
    let begun = || {
        median(
            series
                .values
                .iter()
                .copied()
                .filter(|v| v.is_finite())
                .take(FIRST_POINTS),
        )
    };
    chance(run, series.rank).or_else(begun).unwrap_or(0.0).abs()
}
