//! Advice on a hit, the same on every page.

use trainscope_api::Sentence;
use trainscope_api::findings::{Findings, Hit};

/// Advice on the first cause if `hit` is it and there is some, else that of the watchpoint of `hit`.
pub(crate) fn advice_on<'a>(found: &'a Findings, hit: &Hit) -> Option<&'a Sentence> {
    let cause = found.first_cause.as_ref();
    let cause = cause.filter(|cause| cause.hit.key() == hit.key());
    let watchpoint = found.watchpoints.get(hit.watchpoint as usize);
    let all = [
        cause.map(|cause| &cause.advice),
        watchpoint.map(|watchpoint| &watchpoint.advice),
    ];
    let mut all = all.into_iter().flatten();
    all.find(|words| !words.en.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trainscope_api::findings::{FirstCause, WatchpointResult};
    use trainscope_format::Severity;

    use super::*;

    fn words(text: &str) -> Sentence {
        Sentence {
            en: text.to_owned(),
            zh: text.to_owned(),
        }
    }

    fn hit(step: i64) -> Hit {
        Hit {
            condition: "c".to_owned(),
            watchpoint: 0,
            nth: 0,
            severity: Severity::Error,
            rank: 0,
            step,
            last_step: step,
            tensor: "t".to_owned(),
            node: None,
            values: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            measures: Vec::new(),
            sentence: Sentence::default(),
            explains: None,
            source: None,
        }
    }

    /// Findings with the first cause at step 7.
    fn findings(of_cause: &str, of_watchpoint: &str) -> Findings {
        Findings {
            first_cause: Some(FirstCause {
                hit: hit(7),
                line: None,
                explains: 0,
                sentence: Sentence::default(),
                advice: words(of_cause),
            }),
            watchpoints: vec![WatchpointResult {
                condition: "c".to_owned(),
                title: Sentence::default(),
                target: "weight".to_owned(),
                finds_not_finite: false,
                limits: BTreeMap::new(),
                is_on: true,
                has_data: true,
                severity: Severity::Error,
                worst: None,
                hits: 2,
                unjudged: 0,
                advice: words(of_watchpoint),
            }],
            ..Findings::default()
        }
    }

    #[test]
    fn a_first_cause_without_advice_has_that_of_its_watchpoint() {
        for (of_cause, of_watchpoint, at_cause, elsewhere) in [
            ("this", "usual", Some("this"), Some("usual")),
            ("", "usual", Some("usual"), Some("usual")),
            ("this", "", Some("this"), None),
            ("", "", None, None),
        ] {
            let found = findings(of_cause, of_watchpoint);
            let of = |step| advice_on(&found, &hit(step)).map(|words| &*words.en);
            assert_eq!((of(7), of(8)), (at_cause, elsewhere));
        }
    }
}
