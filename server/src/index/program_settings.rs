//! Settings in the facts of a program, under the names that people give them as hyper-parameters.

use trainscope_format::ProgramFact;
use trainscope_format::hparams::HparamValue;

/// Numbers of a group of an optimizer that are settings.
const OF_OPTIMIZER: [&str; 5] = ["weight_decay", "momentum", "beta1", "beta2", "eps"];
/// Numbers of a data loader that are settings, with the names that PyTorch gives them.
const OF_LOADER: [(&str, &str); 2] = [("batch_size", "batch_size"), ("workers", "num_workers")];
/// Settings of a data loader that are 0 or 1.
const OF_LOADER_YES_NO: [&str; 2] = ["shuffle", "drop_last"];
/// Texts about the environment.
const OF_ENVIRONMENT: [&str; 4] = ["command", "python", "torch", "commit"];

/// Settings of a fact; empty for facts that measure something else.
pub(crate) fn settings_of(fact: &ProgramFact) -> Vec<(String, HparamValue)> {
    let number = |name: &str| fact.number(name).map(HparamValue::Number);
    let text = |text: &str| (!text.is_empty()).then(|| HparamValue::Text(text.to_owned()));
    let yes_no = |name: &str| {
        fact.number(name)
            .map(|number| HparamValue::Bool(number > 0.0))
    };
    let values: Vec<(String, Option<HparamValue>)> = match &*fact.kind {
        "optimizer_settings" => {
            let (class, group) = fact
                .subject
                .rsplit_once(' ')
                .unwrap_or((&fact.subject, "0"));
            // The first group of the first optimizer has the names of hyper-parameters.
            let is_first = group == "0" && !class.contains('#');
            let key = |name: &str| {
                if is_first {
                    name.to_owned()
                } else {
                    format!("{class}.{group}.{name}")
                }
            };
            // A schedule may start at any rate: the highest one is the setting.
            let rate = (key("learning_rate"), number("highest_lr"));
            let class = is_first.then(|| ("optimizer".to_owned(), text(class)));
            let others = OF_OPTIMIZER.iter().map(|name| (key(name), number(name)));
            others.chain([rate]).chain(class).collect()
        }
        "loss_function" if !fact.subject.contains('#') => {
            vec![("loss_function".to_owned(), text(&fact.subject))]
        }
        "data_loader" => {
            let numbers = OF_LOADER
                .iter()
                .map(|(name, key)| ((*key).to_owned(), number(name)));
            let words = OF_LOADER_YES_NO
                .iter()
                .map(|name| ((*name).to_owned(), yes_no(name)));
            numbers.chain(words).collect()
        }
        "clipping" => vec![("max_grad_norm".to_owned(), number("max_norm"))],
        "environment" => {
            let texts = OF_ENVIRONMENT
                .iter()
                .map(|name| (format!("environment.{name}"), text(fact.text(name))));
            texts.collect()
        }
        _ => Vec::new(),
    };
    let known = values.into_iter();
    known
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_group_has_the_names_of_hyper_parameters() {
        let fact = |subject: &str| ProgramFact {
            kind: "optimizer_settings".into(),
            subject: subject.into(),
            numbers: vec![
                ("lr".into(), 0.0),
                ("highest_lr".into(), 0.1),
                ("eps".into(), 1e-8),
            ],
            ..ProgramFact::default()
        };
        let named = |subject: &str| {
            let all = settings_of(&fact(subject)).into_iter();
            all.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(named("Adam 0"), ["eps", "learning_rate", "optimizer"]);
        assert_eq!(named("Adam 1"), ["Adam.1.eps", "Adam.1.learning_rate"]);
        assert_eq!(named("SGD#2 0"), ["SGD#2.0.eps", "SGD#2.0.learning_rate"]);
        let rate = ("learning_rate".to_owned(), HparamValue::Number(0.1));
        assert!(settings_of(&fact("Adam 0")).contains(&rate));
        let other = ProgramFact {
            kind: "reached".into(),
            ..fact("")
        };
        assert_eq!(settings_of(&other), []);
    }
}
