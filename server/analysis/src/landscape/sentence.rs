//! The sentence about a landscape: the first rule that holds.

use trainscope_api::Sentence;
use trainscope_format::Landscape;
use trainscope_format::digits::{brief, non_finite, percent};

use super::figures::Figures;

/// Size of the basin, as a share of the path, below which it is narrow.
const NARROW: f64 = 0.05;
/// Size of the basin, as a share of the path, above which it is wide.
const WIDE: f64 = 0.25;

/// Weight of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The end is not finite.
    Error,
    /// The training could go on, or its way was not smooth.
    Warning,
    /// Figures without a judgement.
    Plain,
    /// A wide basin.
    Good,
}

/// A conclusion from the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// Weight.
    pub tone: Tone,
    /// The sentence.
    pub sentence: Sentence,
}

/// The conclusion about a landscape.
pub fn conclusion(landscape: &Landscape, figures: &Figures) -> Conclusion {
    let rules = [not_finite, not_arrived, over_a_hill, basin];
    let found = rules.iter().find_map(|rule| rule(landscape, figures));
    found.unwrap_or_else(|| plain(figures))
}

fn of(tone: Tone, en: String, zh: String) -> Conclusion {
    Conclusion {
        tone,
        sentence: Sentence { en, zh },
    }
}

fn not_finite(_: &Landscape, figures: &Figures) -> Option<Conclusion> {
    let name = non_finite(figures.end?.1)?;
    Some(of(
        Tone::Error,
        format!("The loss at the end is {name}."),
        format!("终点的损失为 {name}。"),
    ))
}

fn not_arrived(_: &Landscape, figures: &Figures) -> Option<Conclusion> {
    let (least, end) = (figures.least?, figures.end?.1);
    if !least.is_at_border || least.loss >= end {
        return None;
    }
    let (least, end) = (brief(least.loss), brief(end));
    Some(of(
        Tone::Plain,
        format!(
            "The minimum is outside of this plane: its loss falls to {least} at the border ({end} at the end of the training)."
        ),
        format!("最小值在该平面之外：损失在边界处降至 {least}（训练终点为 {end}）。"),
    ))
}

fn over_a_hill(landscape: &Landscape, figures: &Figures) -> Option<Conclusion> {
    let hill = figures.hill?;
    let name = |state: usize| landscape.intervals.get(state).copied();
    let loss = if hill.loss.is_finite() {
        brief(hill.loss)
    } else {
        String::new()
    };
    let (en, zh) = match (name(hill.after), name(hill.after + 1)) {
        (Some(from), Some(to)) if landscape.unit == "epoch" => (
            format!("Between epochs {from} and {to}"),
            format!("在轮次 {from} 与 {to} 之间"),
        ),
        (Some(from), Some(to)) => (
            format!("Between steps {from} and {to}"),
            format!("在迭代 {from} 与 {to} 之间"),
        ),
        _ => (
            "Between two saved states".to_owned(),
            "在两个已保存的状态之间".to_owned(),
        ),
    };
    let (over_en, over_zh) = if loss.is_empty() {
        (
            "a loss that is not finite".to_owned(),
            "非有限的损失".to_owned(),
        )
    } else {
        (format!("a loss of {loss}"), format!("损失 {loss}"))
    };
    Some(of(
        Tone::Warning,
        format!("{en}, the path climbs over {over_en}."),
        format!("{zh}，路径越过{over_zh}。"),
    ))
}

fn basin(_: &Landscape, figures: &Figures) -> Option<Conclusion> {
    let (radius, path) = (
        figures.radius?,
        figures.path_length.filter(|path| *path > 0.0)?,
    );
    let share = radius / path;
    let (distance, part) = (brief(radius), percent(share));
    if share < NARROW {
        Some(of(
            Tone::Warning,
            format!(
                "The training ends in a narrow basin: the loss rises by 10 % within {distance} of the last weights, {part} of the path."
            ),
            format!(
                "训练终止于窄谷：距最终权重 {distance} 以内损失即上升 10 %（为路径长度的 {part}）。"
            ),
        ))
    } else if share > WIDE {
        Some(of(
            Tone::Good,
            format!(
                "The training ends in a wide basin: the loss stays within 10 % up to {distance} away from the last weights."
            ),
            format!("训练终止于宽谷：距最终权重 {distance} 以内损失变化不超过 10 %。"),
        ))
    } else {
        None
    }
}

fn plain(figures: &Figures) -> Conclusion {
    let (en, zh) = match (figures.end, figures.radius, figures.least) {
        (Some((_, loss)), Some(radius), _) => (
            format!(
                "The loss at the end is {}; it stays within 10 % up to {} away.",
                brief(loss),
                brief(radius)
            ),
            format!(
                "终点的损失为 {}，在距离 {} 以内变化不超过 10 %。",
                brief(loss),
                brief(radius)
            ),
        ),
        (Some((_, loss)), None, _) => (
            format!("The loss at the end is {}.", brief(loss)),
            format!("终点的损失为 {}。", brief(loss)),
        ),
        (None, _, Some(least)) => (
            format!("The lowest loss in this plane is {}.", brief(least.loss)),
            format!("该平面的最小损失为 {}。", brief(least.loss)),
        ),
        (None, _, None) => (
            "No loss of this plane is finite.".to_owned(),
            "该平面上没有有限的损失。".to_owned(),
        ),
    };
    of(Tone::Plain, en, zh)
}
