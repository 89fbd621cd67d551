//! Hyper-parameters of a run as text, the most important first.

use trainscope_api::runs::Run;
use trainscope_format::hparams::HparamValue;

use trainscope_web_kit::format;

/// Maximum number of hyper-parameters named in the row.
const NAMED: usize = 4;
/// Substrings of the names of the most important hyper-parameters.
const FIRST: [&str; 7] = [
    "learning_rate",
    "lr",
    "optim",
    "batch",
    "bsize",
    "precision",
    "loss",
];

/// A few hyper-parameters, the most important first.
pub(super) fn named(run: &Run) -> String {
    let all = all(run).into_iter();
    let named = all
        .take(NAMED)
        .map(|(name, value)| format!("{name} {value}"));
    let named: Vec<String> = named.collect();
    named.join(" · ")
}

/// All hyper-parameters with their values as text, the most important first.
pub(super) fn all(run: &Run) -> Vec<(String, String)> {
    let rank = |name: &str| {
        let name = name.to_lowercase();
        FIRST
            .iter()
            .position(|word| name.contains(word))
            .unwrap_or(FIRST.len())
    };
    let text = |value: &HparamValue| match value {
        HparamValue::Null => "null".to_owned(),
        HparamValue::Number(number) => short(*number),
        HparamValue::Text(text) => text.clone(),
        HparamValue::Bool(yes) => yes.to_string(),
    };
    let mut all = Vec::with_capacity(run.hparams.len());
    for wanted in 0..=FIRST.len() {
        let ranked = run.hparams.iter().filter(|(name, _)| rank(name) == wanted);
        all.extend(ranked.map(|(name, value)| (name.clone(), text(value))));
    }
    all
}

/// Number with four digits, without trailing zeros.
fn short(value: f64) -> String {
    let text = format::number(value, 4);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_short() {
        for (value, text) in [
            (f64::from(0.3_f32), "0.3"),
            (32.0, "32"),
            (1e8, "1e8"),
            (3e-4, "3e−4"),
            (1_200.5, "1,200"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
