//! Two networks that are trained against each other, of which one has won.

use trainscope_format::Severity;

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number};
use crate::watchpoint::model::run::{LOSS_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series, median, words_of};

/// Words of the losses of the two networks.
const DISCRIMINATOR: [&str; 4] = ["d", "disc", "discriminator", "critic"];
const GENERATOR: [&str; 3] = ["g", "gen", "generator"];
/// Words of the discriminator's answers for real and for generated samples.
const REAL: [&str; 1] = ["real"];
const FAKE: [&str; 3] = ["fake", "generated", "synthetic"];
/// Maximum share of generated samples, and minimum share of real ones, that a discriminator without effect recognises;
/// the same comparison suits percentages. Chosen.
const NONE: f64 = 0.05;
const MOST: f64 = 0.5;

/// A discriminator whose loss is nothing in the last half of the curve while that of the generator is high, or that
/// takes generated samples for real ones.
pub(crate) fn one_sided(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let named = |meaning, words: &'static [&'static str]| {
            let mut all = run
                .scalars(meaning)
                .filter(move |series| series.rank == rank);
            all.find(|series| series.len() >= points && has_any(series, words))
        };
        let losses = named(Meaning::Loss, &DISCRIMINATOR).zip(named(Meaning::Loss, &GENERATOR));
        if let Some((discriminator, other)) = losses {
            found.extend(has_won(discriminator, other, watchpoint));
        }
        let answers = named(Meaning::Accuracy, &FAKE).zip(named(Meaning::Accuracy, &REAL));
        if let Some((fake, real)) = answers {
            found.extend(believes_all(fake, real));
        }
    }
    found.into()
}

fn has_won(discriminator: &Series, other: &Series, watchpoint: &Watchpoint) -> Option<NewHit> {
    let (low, high) = (
        watchpoint.limits.value(Key::LossLt),
        watchpoint.limits.value(Key::LossGt),
    );
    let ((step, last), usual) = last_half(discriminator)?;
    let (_, of_other) = last_half(other)?;
    let is_won = !discriminator.has_negative() && usual < low && of_other > high;
    let hit = NewHit::of_scalar(discriminator, step, LOSS_FLOW, (Key::LossLt, usual)).until(last);
    let (tag, beside) = (&discriminator.tag, &other.tag);
    let (usual, of_other) = (number(usual), number(of_other));
    is_won.then(|| {
        hit.called(Severity::Warning).saying(
            format!("{tag} is {usual} and {beside} {of_other} in the last half: the discriminator recognises every generated sample"),
            format!("后半段 {tag} 为 {usual}，{beside} 为 {of_other}：判别器能识别每个生成样本"),
        )
    })
}

fn believes_all(fake: &Series, real: &Series) -> Option<NewHit> {
    let ((step, last), of_fake) = last_half(fake)?;
    let (_, of_real) = last_half(real)?;
    let points = fake.len() as f64;
    let hit = NewHit::of_scalar(fake, step, LOSS_FLOW, (Key::Count, points)).until(last);
    let (tag, value) = (&fake.tag, number(of_fake));
    (of_fake <= NONE && of_real >= MOST).then(|| {
        hit.called(Severity::Info).saying(
            format!("{tag} is {value} in the last half: the discriminator takes generated samples for real ones"),
            format!("后半段 {tag} 为 {value}：判别器把生成样本都当作真实样本"),
        )
    })
}

fn has_any(series: &Series, words: &[&str]) -> bool {
    let lower = series.tag.to_ascii_lowercase();
    let digits = |c: char| c.is_ascii_digit();
    let mut in_tag = words_of(&lower).into_iter();
    in_tag.any(|word| words.contains(&word.trim_end_matches(digits)))
}

/// First and last step of the last half of a curve, and its median there.
fn last_half(series: &Series) -> Option<((i64, i64), f64)> {
    let half = series.len() / 2;
    let steps = series.steps.get(half..)?;
    let usual = median(series.values.get(half..)?.iter().copied())?;
    Some(((*steps.first()?, *steps.last()?), usual))
}
