//! Sentences about importances, in English and Chinese.

use trainscope_api::Sentence;
use trainscope_api::importance::{Bar, Importance, Measure, Reason, Trust};
use trainscope_format::digits;

use super::{BEST_FOREST_RUNS, MIN_RUNS, least_runs};
use crate::headline::Direction;

/// Sentences about the bars: runs and measure, runs that are left out, runs of the forest, trust, and scale. `target`
/// is the name of the result, `wanted` the requested measure.
pub fn sentences(
    target: &str,
    direction: Option<Direction>,
    wanted: Option<Measure>,
    importance: &Importance,
) -> Vec<Sentence> {
    let runs = importance.runs;
    let Some(measure) = importance.measure else {
        return vec![too_few(target, wanted, runs)];
    };
    let (en, zh) = meaning(measure);
    let (en_better, zh_better) = match direction {
        Some(Direction::Less) => (", lower is better", "（越小越好）"),
        Some(Direction::More) => (", higher is better", "（越大越好）"),
        None => ("", ""),
    };
    let mut all = vec![Sentence::new(
        format!("{target}{en_better}; {en}; {runs} runs"),
        format!("{target}{zh_better}；{zh}；{runs} 个训练"),
    )];
    if importance.left_out > 0 {
        let count = importance.left_out;
        all.push(Sentence::new(
            format!("{count} runs without a finite {target} are left out"),
            format!("{count} 个训练没有有限的 {target}，不参与计算"),
        ));
    }
    if importance.forest_runs > 0 && importance.forest_runs < runs {
        let (best, others) = (
            BEST_FOREST_RUNS,
            importance.forest_runs.saturating_sub(BEST_FOREST_RUNS),
        );
        all.push(Sentence::new(
            format!("the forest saw the {best} best runs and {others} of the others"),
            format!("随机森林使用最好的 {best} 个训练和其余训练中的 {others} 个"),
        ));
    }
    let share = importance.r_squared.unwrap_or_default() * 100.0;
    match importance.trust {
        Some(Trust::Poor) => all.push(Sentence::new(
            format!(
                "these parameters do not explain the result: the forest explains {share:.0} % of the runs it has not seen"
            ),
            format!("这些参数不能解释该结果：随机森林只能解释未见过的训练的 {share:.0} %"),
        )),
        Some(Trust::Fair) => all.push(Sentence::new(
            format!("the forest explains {share:.0} % of the runs it has not seen"),
            format!("随机森林能解释未见过的训练的 {share:.0} %"),
        )),
        Some(Trust::Good) | None => {}
    }
    all.extend(scale(measure, importance));
    all
}

fn too_few(target: &str, wanted: Option<Measure>, runs: usize) -> Sentence {
    let least = wanted.map_or(MIN_RUNS, least_runs);
    if runs >= least {
        return Sentence::new(
            format!("choose whether a lower or a higher {target} is better"),
            format!("不知道 {target} 的优化方向：请选择越小越好或越大越好"),
        );
    }
    Sentence::new(
        format!("{runs} runs with a finite {target}: too few to tell, {least} are needed"),
        format!("只有 {runs} 个训练有有限的 {target}：太少，无法判断，至少需要 {least} 个"),
    )
}

/// Meaning of the bars.
fn meaning(measure: Measure) -> (&'static str, &'static str) {
    match measure {
        Measure::Variance => (
            "fANOVA: share of variance each parameter explains by itself",
            "fANOVA：每个参数单独解释的方差比例",
        ),
        Measure::BestTenth => (
            "PED-ANOVA: share of the difference between the top 10 % and all runs",
            "PED-ANOVA：前 10 % 与全部训练之间差异的比例",
        ),
        Measure::Rank => ("rank correlation with each parameter", "与每个参数的秩相关"),
        Measure::Linear => (
            "linear correlation of the numbers as they are",
            "数值本身的线性相关",
        ),
    }
}

/// Parameters on a logarithmic scale; ranks do not depend on the scale.
fn scale(measure: Measure, importance: &Importance) -> Option<Sentence> {
    if !matches!(measure, Measure::Variance | Measure::BestTenth) {
        return None;
    }
    let logs = importance
        .bars
        .iter()
        .filter(|bar| bar.is_log && bar.value.is_some());
    let names: Vec<&str> = logs.map(|bar| &*bar.name).collect();
    (!names.is_empty()).then(|| {
        Sentence::new(
            format!("on a logarithmic scale: {}", names.join(", ")),
            format!("取对数：{}", names.join("、")),
        )
    })
}

/// The stretch of the best runs, or the reason of a missing value; empty without either.
pub fn words(bar: &Bar) -> Sentence {
    if let Some(reason) = bar.reason {
        let (en, zh) = reason_words(reason);
        return Sentence::new(en, zh);
    }
    let Some(best) = bar.best else {
        return Sentence::default();
    };
    let (name, runs, of) = (&bar.name, best.runs, best.of);
    let [from, to] = [best.from, best.to].map(digits::exact);
    let values = if best.from.to_bits() == best.to.to_bits() {
        from
    } else {
        format!("{from}–{to}")
    };
    let (en, zh) = if runs == of {
        (
            format!("all of the top {of}"),
            format!("前 {of} 个全部如此"),
        )
    } else {
        (
            format!("{runs} of the top {of}"),
            format!("前 {of} 个中的 {runs} 个"),
        )
    };
    Sentence::new(
        format!("Best runs have {name} {values} ({en})"),
        format!("最好的训练 {name} 为 {values}（{zh}）"),
    )
}

/// Reason of a missing value.
pub fn reason_words(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Constant => ("the same in all runs", "在所有训练中相同"),
        Reason::NamesEachRun => ("names each run", "各训练均不相同"),
        Reason::NoNumber => ("not a number", "不是数值"),
        Reason::TooFewRuns => ("too few runs to tell", "训练太少，无法判断"),
        Reason::BeyondLimit => (
            "beyond the 64 parameters of the forest",
            "超出随机森林的 64 个参数",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::importance::Stretch;

    #[test]
    fn a_bar_is_put_into_words() {
        let bar = Bar {
            name: "lr".to_owned(),
            value: Some(0.5),
            best: Some(Stretch {
                from: 1e-3,
                to: 5e-3,
                runs: 12,
                of: 15,
            }),
            ..Bar::default()
        };
        assert_eq!(
            words(&bar).en,
            "Best runs have lr 0.001–0.005 (12 of the top 15)"
        );
        assert_eq!(words(&Bar::default()), Sentence::default());
        let constant = Bar {
            reason: Some(Reason::Constant),
            ..bar
        };
        assert_eq!(words(&constant).en, "the same in all runs");
    }

    #[test]
    fn sentences_say_how_far_to_trust_the_bars() {
        let importance = Importance {
            measure: Some(Measure::Variance),
            runs: 5_000,
            left_out: 3,
            r_squared: Some(0.34),
            trust: Some(Trust::Fair),
            forest_runs: 2_000,
            bars: vec![Bar {
                name: "lr".to_owned(),
                value: Some(0.5),
                is_log: true,
                ..Bar::default()
            }],
            ..Importance::default()
        };
        let all = sentences("loss", Some(Direction::Less), None, &importance);
        let en: Vec<&str> = all.iter().map(|sentence| &*sentence.en).collect();
        assert_eq!(
            en,
            [
                "loss, lower is better; fANOVA: share of variance each parameter explains by itself; 5000 runs",
                "3 runs without a finite loss are left out",
                "the forest saw the 500 best runs and 1500 of the others",
                "the forest explains 34 % of the runs it has not seen",
                "on a logarithmic scale: lr",
            ]
        );
        assert!(all.iter().all(|sentence| !sentence.zh.is_empty()));
        let few = Importance {
            runs: 7,
            ..Importance::default()
        };
        let few = sentences("loss", None, None, &few);
        assert_eq!(
            few[0].en,
            "7 runs with a finite loss: too few to tell, 8 are needed"
        );
        let unknown = Importance {
            runs: 50,
            ..Importance::default()
        };
        let unknown = sentences("x", None, Some(Measure::BestTenth), &unknown);
        assert!(
            unknown[0]
                .en
                .contains("choose whether a lower or a higher x"),
            "{unknown:?}"
        );
    }
}
