//! Steps in names of tensor files, and the rest of the name, which distinguishes files of one step.
//!
//! A number is a step after a known word (`step10_v2`, `ckpt_1000_resnet50`, `epoch=3-step=200`), if the whole name is
//! that number, or if it is the only free-standing number in which files of one folder and one pattern differ
//! (`model_10` and `model_20`). Digits within a word (`resnet50`), parts (`00001-of-00003`, `shard_2`) and fractions
//! (`loss=0.25`) are not steps.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::runs::{TensorKind, TensorSource};

/// Unit of a step, the finest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Step,
    Epoch,
    Checkpoint,
}

/// Words before the number of a step.
const WORDS: [(Unit, &[&str]); 3] = [
    (
        Unit::Step,
        &[
            "step",
            "steps",
            "iter",
            "iters",
            "iteration",
            "iterations",
            "it",
            "itr",
            "update",
            "updates",
        ],
    ),
    (Unit::Epoch, &["epoch", "epochs", "ep"]),
    (
        Unit::Checkpoint,
        &["checkpoint", "ckpt", "ckp", "chkpt", "snapshot"],
    ),
];
/// Minimum length of a word that also counts at the end of another one: `globalstep`, `trainIter`.
const ENDING_LETTERS: usize = 4;
/// Words before a number of a part or variant of a model.
const PART_WORDS: [&str; 20] = [
    "part", "shard", "of", "rank", "layer", "block", "stage", "expert", "head", "fold", "worker",
    "device", "gpu", "seed", "v", "version", "tp", "pp", "dp", "mp",
];
/// Maximum number of digits that always fit into an `i64`.
const MAX_DIGITS: usize = 18;

/// A number in a name that may be a step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number {
    value: i64,
    /// Unit by the word before it.
    unit: Option<Unit>,
    /// Byte range of the digits, with `k` or `m` behind them.
    digits: Range<usize>,
    /// First byte of the word before it, if that is a unit; else of the digits.
    start: usize,
}

/// A file among others of its folder.
pub(super) struct NamedFile<'a> {
    pub(super) folder: Option<&'a Path>,
    pub(super) attempt: u32,
    /// Name without extension; the step is removed from it.
    pub(super) stem: &'a mut String,
    /// Step of the folder, if any; replaced by that of the file.
    pub(super) step: &'a mut i64,
    pub(super) has_step: &'a mut bool,
}

/// Finds the step of each file by comparison within its folder.
pub(super) fn resolve(files: Vec<NamedFile<'_>>) {
    let mut groups: BTreeMap<_, Vec<(NamedFile<'_>, Vec<Number>)>> = BTreeMap::new();
    for file in files {
        let numbers = numbers(file.stem);
        let key = (file.folder, file.attempt, pattern(file.stem, &numbers));
        groups.entry(key).or_default().push((file, numbers));
    }
    for ((_, _, pattern), mut group) in groups {
        let columns = group.first().map_or(0, |(_, numbers)| numbers.len());
        let has_folder = group.iter().any(|(file, _)| *file.has_step);
        let all: Vec<&[Number]> = group.iter().map(|(_, numbers)| &**numbers).collect();
        let Some(column) = column_of_steps(&all, columns, &pattern, has_folder) else {
            continue;
        };
        for (file, numbers) in &mut group {
            if let Some(number) = numbers.get(column) {
                *file.step = number.value;
                *file.has_step = true;
                *file.stem = without(file.stem, number.start..number.digits.end);
            }
        }
    }
}

/// The step of a single name: `12`, `step_00012`, `checkpoint-12`. The number is at the end.
pub(super) fn step_of(name: &str) -> Option<i64> {
    let numbers = numbers(name);
    let last = numbers
        .last()
        .filter(|number| number.digits.end == name.len())?;
    (last.unit.is_some() || last.digits.start == 0).then_some(last.value)
}

/// Index of the number that is the step, in file names that differ only in numbers.
fn column_of_steps(
    files: &[&[Number]],
    columns: usize,
    pattern: &str,
    has_folder: bool,
) -> Option<usize> {
    let values = |column: usize| {
        let of_column = files.iter().filter_map(move |numbers| numbers.get(column));
        let mut values: Vec<i64> = of_column.map(|number| number.value).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let unit = |column: usize| files.first().and_then(|numbers| numbers.get(column)?.unit);
    let mut named: Vec<(Unit, usize)> = (0..columns)
        .filter_map(|column| Some((unit(column)?, column)))
        .collect();
    named.sort_unstable();
    // Steps that restart in each epoch do not distinguish files, but epochs may.
    let apart = named
        .iter()
        .find(|(_, column)| values(*column) == files.len());
    if let Some((_, column)) = apart.or(named.first()) {
        return Some(*column);
    }
    if pattern == "#" {
        return Some(0);
    }
    let mut varying = (0..columns).filter(|column| values(*column) > 1);
    match (varying.next(), varying.next()) {
        (Some(column), None) if !has_folder => Some(column),
        _ => None,
    }
}

/// Numbers that may be steps.
fn numbers(stem: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = stem[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + start;
        let rest = &stem[start..];
        let len = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        from = start + len;
        found.extend(number_at(stem, start..from));
    }
    found
}

fn number_at(stem: &str, digits: Range<usize>) -> Option<Number> {
    let (before, after) = (&stem[..digits.start], &stem[digits.end..]);
    let ends_word = |text: &str| !text.starts_with(char::is_alphanumeric);
    let (scale, suffix) = match after.as_bytes().first() {
        Some(b'k' | b'K') if ends_word(&after[1..]) => (1_000, 1),
        Some(b'm' | b'M') if ends_word(&after[1..]) => (1_000_000, 1),
        _ => (1, 0),
    };
    let is_fraction = |text: &str, point: Option<usize>| {
        let digit = point.and_then(|at| text.as_bytes().get(at));
        digit.is_some_and(u8::is_ascii_digit)
    };
    let has_point_before =
        before.ends_with('.') && is_fraction(before, before.len().checked_sub(2));
    let has_point_after = after.starts_with('.') && is_fraction(after, Some(1));
    if digits.len() > MAX_DIGITS
        || !ends_word(&after[suffix..])
        || has_point_before
        || has_point_after
    {
        return None;
    }
    let words = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_glued = words.len() == before.len() && !before.is_empty();
    let word_start = words.trim_end_matches(char::is_alphabetic).len();
    let word = words[word_start..].to_lowercase();
    let unit = unit_of(&word);
    // `model-00001-of-00003`: the first of three parts.
    let next = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_part = PART_WORDS.contains(&&*word)
        || next
            .strip_prefix("of")
            .is_some_and(|rest| ends_word(rest) && !rest.is_empty());
    if unit.is_none() && (is_glued || is_part) {
        return None;
    }
    let value = stem[digits.clone()].parse::<i64>().ok()?;
    Some(Number {
        value: value.checked_mul(scale)?,
        unit,
        start: if unit.is_some() {
            word_start
        } else {
            digits.start
        },
        digits: digits.start..digits.end + suffix,
    })
}

fn unit_of(word: &str) -> Option<Unit> {
    let is_it =
        |known: &&str| word == *known || known.len() >= ENDING_LETTERS && word.ends_with(known);
    let of = |(unit, words): &(Unit, &[&str])| words.iter().any(is_it).then_some(*unit);
    WORDS.iter().find_map(of)
}

/// The name with `#` for each number that may be a step.
fn pattern(stem: &str, numbers: &[Number]) -> String {
    let mut pattern = String::with_capacity(stem.len());
    let mut from = 0;
    for number in numbers {
        pattern.push_str(&stem[from..number.digits.start]);
        pattern.push('#');
        from = number.digits.end;
    }
    pattern.push_str(&stem[from..]);
    pattern
}

/// The name without a part and its separator.
fn without(stem: &str, part: Range<usize>) -> String {
    let is_joint = |c: char| !c.is_alphanumeric();
    let before = stem[..part.start].trim_end_matches(is_joint);
    let after = stem[part.end..].trim_start_matches(is_joint);
    let joint = if before.is_empty() || after.is_empty() {
        ""
    } else {
        "_"
    };
    format!("{before}{joint}{after}")
}

/// Removes files of earlier attempts at a step: of several, the last one counts.
pub(super) fn keep_last_attempts(sources: &mut Vec<TensorSource>) {
    let attempt = |source: &TensorSource| match source.kind {
        TensorKind::Safetensors { attempt, .. } => Some(attempt),
        _ => None,
    };
    let last = sources.iter().filter_map(attempt).max();
    if let Some(last) = last.filter(|last| *last > 1) {
        sources.retain(|source| attempt(source).is_none_or(|attempt| attempt == last));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NamedFile, resolve, step_of};

    #[test]
    fn numbers_of_steps() {
        for (name, step) in [
            ("12", Some(12)),
            ("step_00012", Some(12)),
            ("step-7", Some(7)),
            ("dump_step_5", Some(5)),
            ("checkpoint-500", Some(500)),
            ("global_step=3", Some(3)),
            ("global_step1000", Some(1_000)),
            ("Iter.9", Some(9)),
            ("rank_0", None),
            ("layer3", None),
            ("fc1_2", None),
            ("step", None),
            ("step_3_old", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(step_of(name), step, "{name}");
        }
    }

    /// Steps of files of one folder, `None` if not recognised, and the rest of their names.
    fn steps(stems: &[&str]) -> Vec<(Option<i64>, String)> {
        let mut all: Vec<(String, i64, bool)> = stems
            .iter()
            .map(|stem| ((*stem).to_owned(), 0, false))
            .collect();
        let named = all.iter_mut().map(|(stem, step, has_step)| NamedFile {
            folder: Some(Path::new("run")),
            attempt: 1,
            stem,
            step,
            has_step,
        });
        resolve(named.collect());
        let recognised =
            |(stem, step, has_step): (String, i64, bool)| (has_step.then_some(step), stem);
        all.into_iter().map(recognised).collect()
    }

    fn understood(stems: &[&str], wanted: &[i64], rest: &str) {
        let found = steps(stems);
        let wanted: Vec<_> = wanted
            .iter()
            .map(|step| (Some(*step), rest.to_owned()))
            .collect();
        assert_eq!(found, wanted, "{stems:?}");
    }

    #[test]
    fn a_number_after_a_known_word_is_the_step() {
        understood(
            &["ckpt_1000_resnet50", "ckpt_20000_resnet50"],
            &[1_000, 20_000],
            "resnet50",
        );
        understood(&["step10_v2"], &[10], "v2");
        understood(&["it0000010"], &[10], "");
        understood(&["trainStep_10k"], &[10_000], "");
        understood(&["bert-base.Epoch 3.ema"], &[3], "bert-base_ema");
        understood(&["epoch=3-step=200"], &[200], "epoch=3");
        understood(
            &["epoch=3-val_loss=0.25", "epoch=4-val_loss=0.20"][..1],
            &[3],
            "val_loss=0.25",
        );
        // Steps that restart in each epoch.
        let found = steps(&["epoch=1-step=200", "epoch=2-step=200"]);
        assert_eq!((found[0].0, found[1].0), (Some(1), Some(2)));
    }

    #[test]
    fn the_only_number_that_varies_is_the_step() {
        understood(
            &["model_10", "model_20", "model_100"],
            &[10, 20, 100],
            "model",
        );
        understood(
            &["weights.10.ema", "weights.20.ema"],
            &[10, 20],
            "weights_ema",
        );
        understood(&["10_resnet50", "20_resnet50"], &[10, 20], "resnet50");
        understood(&["lenet-1_1875", "lenet-2_1875"], &[1, 2], "lenet_1875");
        understood(&["7", "9"], &[7, 9], "");
    }

    #[test]
    fn what_is_no_step_stays_in_the_name() {
        for stems in [
            &["model"][..],
            &["model_10"],
            &["generator", "discriminator"],
            &["resnet50", "resnet101"],
            &["model-00001-of-00003", "model-00002-of-00003"],
            &["expert_0", "expert_1"],
            &["run_1_2", "run_3_4"],
            &["lr_0.1", "lr_0.2"],
            &["7b", "13b"],
        ] {
            let found = steps(stems);
            for (stem, (step, rest)) in stems.iter().zip(found) {
                assert_eq!((step, &*rest), (None, *stem), "{stems:?}");
            }
        }
    }

    #[test]
    fn odd_names_are_no_trouble() {
        for stem in [
            "",
            ".",
            "1.",
            "é1é",
            "步骤3",
            "_1_",
            "1k",
            "99999999999999999999",
            "0.1.2",
        ] {
            steps(&[stem, stem]);
            step_of(stem);
        }
    }
}
