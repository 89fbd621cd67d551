//! Mistakes in the form, found before it is sent, each at its field.

use trainscope_api::watchpoints::{Condition, Parameter, ParameterKind, Setting, WatchpointKeys};

/// A mistake in one field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mistake {
    /// Value that is not permitted for its kind.
    Wrong(ParameterKind),
    /// No limit is given, and no limit has a default.
    NoLimit,
    /// Reason of the server's refusal.
    Refused(String),
}

/// Keys with a mistake, in the order of the form.
pub(super) fn mistakes(
    draft: &WatchpointKeys,
    condition: &Condition,
    common: &[Parameter],
) -> Vec<(String, Mistake)> {
    let all = condition.parameters.iter().chain(common);
    let wrong = all.filter_map(|one| {
        let setting = draft.0.get(&one.name)?;
        (!is_of_kind(setting, one.kind)).then(|| (one.name.clone(), Mistake::Wrong(one.kind)))
    });
    let mut found: Vec<(String, Mistake)> = wrong.collect();
    let mut limits = condition.parameters.iter().filter(|one| one.is_limit);
    let is_given = |one: &Parameter| one.default.is_some() || draft.0.contains_key(&one.name);
    if let Some(first) = limits.clone().next()
        && !limits.any(is_given)
    {
        found.insert(0, (first.name.clone(), Mistake::NoLimit));
    }
    found
}

/// `true` if a setting is permitted for its kind.
fn is_of_kind(setting: &Setting, kind: ParameterKind) -> bool {
    #[expect(
        clippy::cast_precision_loss,
        reason = "only compared with small numbers"
    )]
    let number = match setting {
        Setting::Int(number) => Some(*number as f64),
        Setting::Float(number) => Some(*number).filter(|number| number.is_finite()),
        Setting::Bool(_) | Setting::Text(_) | Setting::List(_) => None,
    };
    let is_whole = matches!(setting, Setting::Int(_));
    let holds = |test: fn(f64) -> bool| number.is_some_and(test);
    match kind {
        ParameterKind::Finite => number.is_some(),
        ParameterKind::NotNegative => holds(|number| number >= 0.0),
        ParameterKind::Positive => holds(|number| number > 0.0),
        ParameterKind::Percentage => holds(|number| (0.0..=100.0).contains(&number)),
        ParameterKind::Share => holds(|number| (0.0..=1.0).contains(&number)),
        ParameterKind::Count => is_whole && holds(|number| number >= 1.0),
        ParameterKind::Whole => is_whole && holds(|number| number >= 0.0),
        ParameterKind::Step => is_whole,
        ParameterKind::Switch => matches!(setting, Setting::Bool(_)),
        ParameterKind::Text => matches!(setting, Setting::Text(_)),
        ParameterKind::Names => matches!(setting, Setting::List(_) | Setting::Text(_)),
    }
}

/// The key that a refusal of the server names, and the reason without the place in the file.
pub(super) fn refused<'a>(
    reason: &str,
    mut keys: impl Iterator<Item = &'a str>,
) -> Option<(String, Mistake)> {
    let named = reason.split('`').nth(1)?;
    let key = keys.find(|key| *key == named)?;
    let from = reason.find('`').unwrap_or_default();
    Some((key.to_owned(), Mistake::Refused(reason[from..].to_owned())))
}

#[cfg(test)]
mod tests {
    use trainscope_api::Sentence;
    use trainscope_format::Severity;
    use trainscope_format::float::Float;

    use super::*;

    fn limit(name: &str, default: Option<f64>) -> Parameter {
        Parameter {
            name: name.to_owned(),
            kind: ParameterKind::Percentage,
            default: default.map(Float),
            is_limit: true,
            help: Sentence::default(),
            comparison: None,
        }
    }

    fn condition(parameters: Vec<Parameter>) -> Condition {
        Condition {
            id: "c".to_owned(),
            target: String::new(),
            title: Sentence::default(),
            checks: Sentence::default(),
            matters: Sentence::default(),
            not_judged: Sentence::default(),
            advice: Sentence::default(),
            severity: Severity::Info,
            is_recommended: false,
            all_limits: false,
            parameters,
            preset: WatchpointKeys::default(),
        }
    }

    #[test]
    fn a_mistake_is_at_its_field() {
        let mut draft = WatchpointKeys::default();
        let open = condition(vec![limit("a_lt", None), limit("a_gt", None)]);
        assert_eq!(
            mistakes(&draft, &open, &[]),
            [("a_lt".to_owned(), Mistake::NoLimit)]
        );
        let usual = condition(vec![limit("a_lt", Some(1.0)), limit("a_gt", None)]);
        assert_eq!(mistakes(&draft, &usual, &[]), []);
        draft.0.insert("a_gt".to_owned(), Setting::Int(101));
        let wrong = ("a_gt".to_owned(), Mistake::Wrong(ParameterKind::Percentage));
        assert_eq!(mistakes(&draft, &open, &[]), [wrong]);
        draft.0.insert("a_gt".to_owned(), Setting::Float(2.5));
        assert_eq!(mistakes(&draft, &open, &[]), []);
    }

    #[test]
    fn a_refusal_is_shown_at_the_key_that_it_names() {
        let reason = "watchpoint 39: `share_lt` needs `from` and `to`";
        let found = refused(reason, ["share_lt", "to"].into_iter());
        let text = "`share_lt` needs `from` and `to`".to_owned();
        assert_eq!(found, Some(("share_lt".to_owned(), Mistake::Refused(text))));
        assert_eq!(refused("too many", ["a"].into_iter()), None);
    }

    #[test]
    fn kinds_permit_what_the_server_permits() {
        assert!(is_of_kind(&Setting::Int(3), ParameterKind::Count));
        assert!(!is_of_kind(&Setting::Float(3.5), ParameterKind::Count));
        assert!(!is_of_kind(&Setting::Int(0), ParameterKind::Count));
        assert!(is_of_kind(&Setting::Int(-3), ParameterKind::Step));
        assert!(!is_of_kind(
            &Setting::Text("much".to_owned()),
            ParameterKind::Finite
        ));
        assert!(!is_of_kind(&Setting::Float(1.5), ParameterKind::Share));
    }
}
