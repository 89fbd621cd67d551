//! The catalogue of conditions in the types of the API.

use std::sync::LazyLock;

use trainscope_analysis::watchpoint::catalogue::{self, Range};
use trainscope_analysis::watchpoint::{CONDITIONS, Watchpoint};
use trainscope_api::Sentence;
use trainscope_api::watchpoints::{Catalogue, Comparison, Condition, Parameter, ParameterKind};
use trainscope_format::float::Float;

use super::file::keys_of;

/// The catalogue of all conditions.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
        conditions: CONDITIONS.iter().copied().map(condition).collect(),
        common: common(),
    });
    &CATALOGUE
}

fn condition(condition: &'static catalogue::Condition) -> Condition {
    let preset = Watchpoint::of(condition, condition.recommended);
    Condition {
        id: condition.id.to_owned(),
        target: name_of(&condition.target),
        title: condition.text(|condition| condition.says).into(),
        checks: condition.text(|condition| condition.checks).into(),
        matters: condition.text(|condition| condition.matters).into(),
        not_judged: condition.text(|condition| condition.not_judged).into(),
        advice: condition.text(|condition| condition.advice).into(),
        severity: condition.severity,
        is_recommended: condition.recommended,
        all_limits: condition.combination == catalogue::Combination::All,
        parameters: condition.parameters.iter().map(parameter).collect(),
        preset: keys_of(&preset.to_config()),
    }
}

fn parameter(parameter: &catalogue::Parameter) -> Parameter {
    Parameter {
        name: parameter.name.to_string(),
        kind: match parameter.range {
            Range::Finite => ParameterKind::Finite,
            Range::NotNegative => ParameterKind::NotNegative,
            Range::Positive => ParameterKind::Positive,
            Range::Percentage => ParameterKind::Percentage,
            Range::Share => ParameterKind::Share,
            Range::Count => ParameterKind::Count,
            Range::Switch => ParameterKind::Switch,
        },
        default: parameter.default.map(Float),
        is_limit: parameter.is_limit,
        help: parameter.text.into(),
        comparison: parameter.is_limit.then(|| Comparison {
            quantity: parameter.quantity(),
            operator: parameter.operator(),
        }),
    }
}

/// Common keys, except for `condition`, `on` and `severity`, which have separate controls on the page.
fn common() -> Vec<Parameter> {
    let key = |name: &str, kind, en: &str, zh: &str| Parameter {
        name: name.to_owned(),
        kind,
        default: None,
        is_limit: false,
        help: Sentence::new(en, zh),
        comparison: None,
    };
    vec![
        key("name", ParameterKind::Text, "custom name", "自定义名称"),
        key(
            "tensors",
            ParameterKind::Names,
            "only these tensors (* matches any text)",
            "仅限这些名称的张量，* 表示任意文本",
        ),
        key(
            "exclude",
            ParameterKind::Names,
            "exclude these tensors",
            "排除这些名称的张量",
        ),
        key(
            "from_step",
            ParameterKind::Step,
            "skip steps before",
            "此前的迭代不判断",
        ),
        key(
            "warmup",
            ParameterKind::Whole,
            "skip the first N observations of each tensor",
            "每个张量最初不判断的观测次数",
        ),
        key(
            "patience",
            ParameterKind::Count,
            "required number of consecutive observations",
            "需连续满足的次数",
        ),
        key(
            "cooldown",
            ParameterKind::Whole,
            "after a hit, skip N observations of the same tensor",
            "同一张量命中后不再报告的观测次数",
        ),
        key(
            "context",
            ParameterKind::Switch,
            "use context from the run to suppress or escalate hits",
            "是否结合训练的其他信息来排除命中或提高其级别",
        ),
        key(
            "pause",
            ParameterKind::Switch,
            "pause a connected training at each hit, or never; unset: by the level of the session",
            "命中时是否暂停已连接的训练；未设置：按会话的级别",
        ),
    ]
}

/// The name of a value in JSON.
pub(crate) fn name_of(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use trainscope_analysis::watchpoint::Watchpoints;
    use trainscope_analysis::watchpoint::config::{COMMON_KEYS, WatchpointsFile};

    use super::*;

    #[test]
    fn everything_can_be_chosen_and_has_a_text_in_both_languages() {
        let all = catalogue();
        assert_eq!(all.conditions.len(), CONDITIONS.len());
        for condition in &all.conditions {
            let texts = [
                &condition.title,
                &condition.checks,
                &condition.matters,
                &condition.advice,
            ];
            let helps = condition.parameters.iter().map(|parameter| &parameter.help);
            for text in texts.into_iter().chain(helps) {
                assert!(
                    !text.en.is_empty() && !text.zh.is_empty(),
                    "{}",
                    condition.id
                );
            }
        }
        let told: Vec<&str> = all.common.iter().map(|key| &*key.name).collect();
        let set_elsewhere = ["condition", "on", "severity"];
        let missing: Vec<&str> = COMMON_KEYS
            .into_iter()
            .filter(|key| !told.contains(key) && !set_elsewhere.contains(key))
            .collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn presets_of_what_is_recommended_are_the_recommended_watchpoints() {
        let chosen = catalogue()
            .conditions
            .iter()
            .filter(|condition| condition.is_recommended);
        let presets: Vec<_> = chosen.map(|condition| &condition.preset).collect();
        let file = WatchpointsFile {
            watchpoint: serde_json::from_value(serde_json::to_value(presets).unwrap()).unwrap(),
        };
        let made = Watchpoints::from_file(&file).unwrap();
        let recommended = Watchpoints::recommended();
        for (made, expected) in made.all().iter().zip(recommended.all()) {
            for parameter in expected.condition.parameters {
                let bits = |watchpoint: &Watchpoint| {
                    watchpoint.limits.get(parameter.name).map(f64::to_bits)
                };
                assert_eq!(bits(made), bits(expected), "{}", expected.condition.id);
            }
            let rest = |w: &Watchpoint| {
                (
                    w.patience,
                    w.cooldown,
                    w.warmup,
                    w.context,
                    w.severity,
                    w.may_raise,
                )
            };
            assert_eq!(rest(made), rest(expected), "{}", expected.condition.id);
        }
        assert_eq!(made.all().len(), recommended.all().len());
    }
}
