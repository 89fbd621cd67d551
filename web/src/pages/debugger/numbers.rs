//! What a hit has found, in a few signs.

use trainscope_api::findings::Hit;

use crate::format;

/// What was found and the limit of it, if there is one.
pub(super) fn found(hit: &Hit) -> (String, String) {
    let text =
        |value: Option<f64>| value.map_or_else(String::new, |value| format::number(value, 3));
    let (found, limit) = hit.found();
    (text(found), text(limit))
}

/// `step 412`, or `412 – 500` where it lasts.
pub(super) fn steps(hit: &Hit) -> String {
    if hit.last_step > hit.step {
        format!(
            "{} – {}",
            format::integer(hit.step),
            format::integer(hit.last_step)
        )
    } else {
        format::integer(hit.step)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use trainscope_api::findings::Words;
    use trainscope_format::Severity;
    use trainscope_format::float::Float;

    fn hit(values: &[(&str, f64)], thresholds: &[(&str, f64)]) -> Hit {
        let named = |numbers: &[(&str, f64)]| -> BTreeMap<String, Float> {
            let numbers = numbers.iter();
            numbers
                .map(|(name, n)| ((*name).to_owned(), Float(*n)))
                .collect()
        };
        Hit {
            condition: "c".to_owned(),
            watchpoint: 0,
            nth: 0,
            severity: Severity::Error,
            rank: 0,
            step: 3,
            last_step: 3,
            tensor: "t".to_owned(),
            node: None,
            values: named(values),
            thresholds: named(thresholds),
            sentence: Words::default(),
            explains: None,
            source: None,
        }
    }

    #[test]
    fn what_has_a_limit_comes_first() {
        let both = hit(&[("a", 1.0), ("b", f64::INFINITY)], &[("b", 0.5)]);
        assert_eq!(found(&both), ("+∞".to_owned(), "0.500".to_owned()));
        assert_eq!(found(&hit(&[("nan", 256.0)], &[])).0, "256");
        assert_eq!(found(&hit(&[], &[])), (String::new(), String::new()));
        let mut long = hit(&[], &[]);
        assert_eq!(steps(&long), "3");
        long.last_step = 1_200;
        assert_eq!(steps(&long), "3 – 1,200");
    }
}
