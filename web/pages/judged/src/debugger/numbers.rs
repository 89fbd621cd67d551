//! Texts of a hit: its measured value, its steps, and a short unique name of its tensor.

use std::collections::BTreeMap;

use trainscope_api::findings::Hit;

use trainscope_web_kit::format;
use trainscope_web_kit::i18n::Locale;

/// Minimum number of scopes in a shortened name.
const MIN_SCOPES: usize = 2;
/// Maximum number of scopes in an ending.
const MAX_SCOPES: usize = 3;

/// Quantity, value, and operator with limit of the first broken limit; empty if missing. The quantity is empty if the
/// value contains it: `48 of 80 NaN`.
pub(super) fn found(hit: &Hit, locale: Locale) -> [String; 3] {
    let first = hit.measures.first();
    first.map_or_else(Default::default, |measure| {
        let (quantity, found) = match locale {
            Locale::En => (&measure.quantity.en, &measure.found.en),
            Locale::Zh => (&measure.quantity.zh, &measure.found.zh),
        };
        let value = found.strip_prefix(quantity.as_str());
        let value = value.and_then(|value| value.strip_prefix(' '));
        let (quantity, value) = value.map_or(("", found.as_str()), |value| (quantity, value));
        [
            quantity.to_owned(),
            value.to_owned(),
            measure.threshold.clone(),
        ]
    })
}

/// `412`, or `412 – 500` for a hit of several steps.
pub(super) fn steps(hit: &Hit) -> String {
    step_range((hit.step, hit.last_step))
}

/// `412`, or `412 – 500` if the last step is greater.
pub(super) fn step_range((first, last): (i64, i64)) -> String {
    if last > first {
        format!("{} – {}", format::integer(first), format::integer(last))
    } else {
        format::integer(first)
    }
}

/// Endings of names, to shorten each name to a unique text. Names of one scope often differ only in the middle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    /// Names by each of their endings, in whole scopes.
    ending: BTreeMap<String, Vec<String>>,
}

impl Names {
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = all.collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut ending: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in distinct {
            for end in ends(name).take(MAX_SCOPES) {
                let names = ending.entry(end.to_owned()).or_default();
                names.push(name.to_owned());
            }
        }
        Self { ending }
    }

    /// Shortest unique ending of two or three scopes. Without one, the first scope that differs from the names with the
    /// same ending is put before it.
    pub(super) fn short(&self, name: &str) -> String {
        let alike = |end: &str| self.ending.get(end).map_or(&[][..], Vec::as_slice);
        let mut endings = ends(name).take(MAX_SCOPES).skip(MIN_SCOPES - 1);
        if let Some(end) = endings.find(|end| alike(end).len() <= 1) {
            return cut(name, None, end);
        }
        let Some(end) = ends(name).nth(MIN_SCOPES - 1) else {
            return name.to_owned();
        };
        let others = || alike(end).iter().filter(|other| *other != name);
        let mut scopes = name.split('/').enumerate();
        let differs = |(at, scope): &(usize, &str)| {
            let mut others = others();
            others.all(|other| other.split('/').nth(*at) != Some(scope))
        };
        match scopes.find(differs) {
            Some((_, scope)) => cut(name, Some(scope), end),
            None => name.to_owned(),
        }
    }
}

/// `scope/…/end`, or the name if that is not shorter.
fn cut(name: &str, scope: Option<&str>, end: &str) -> String {
    let scope = scope.map(|scope| format!("{scope}/")).unwrap_or_default();
    if scope.len() + end.len() < name.len() {
        format!("{scope}…/{end}")
    } else {
        name.to_owned()
    }
}

/// Endings of a name, one per scope, the shortest first.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let cuts = name.rmatch_indices('/').map(|(at, _)| &name[at + 1..]);
    cuts.chain(std::iter::once(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::Sentence;
    use trainscope_api::findings::Measure;
    use trainscope_format::Severity;
    use trainscope_format::digits::{Operator, Unit};
    use trainscope_format::float::Float;

    fn hit(measures: Vec<Measure>) -> Hit {
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
            values: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            measures,
            sentence: Sentence::default(),
            explains: None,
            source: None,
        }
    }

    #[test]
    fn what_was_found_stands_beside_the_limit_that_it_broke() {
        let words = |en: &str, zh: &str| Sentence {
            en: en.to_owned(),
            zh: zh.to_owned(),
        };
        let mean = Measure {
            name: "abs_mean_lt".to_owned(),
            quantity: words("mean |x|", "|x| 的均值"),
            operator: Operator::Below,
            unit: Unit::Number,
            value: Float(3e-8),
            limit: Some(Float(1e-7)),
            of: None,
            found: words("mean |x| 3e−8", "|x| 的均值 3e−8"),
            threshold: "< 1e−7".to_owned(),
        };
        let small = hit(vec![mean]);
        assert_eq!(found(&small, Locale::En), ["mean |x|", "3e−8", "< 1e−7"]);
        assert_eq!(found(&small, Locale::Zh)[..2], ["|x| 的均值", "3e−8"]);
        let mut part = small;
        part.measures[0].found = words("48 of 80 NaN", "80 个中 48 个 NaN");
        assert_eq!(found(&part, Locale::En)[..2], ["", "48 of 80 NaN"]);
        assert_eq!(found(&hit(Vec::new()), Locale::En), ["", "", ""]);
        let mut long = hit(Vec::new());
        assert_eq!(steps(&long), "3");
        long.last_step = 1_200;
        assert_eq!(steps(&long), "3 – 1,200");
    }

    #[test]
    fn names_are_cut_to_what_tells_them_apart() {
        let all = [
            "Default/net/body/0-Dense/MatMul-op0",
            "Default/net/body/2-Dense/MatMul-op0",
            "Gradients/net/body/2-Dense/MatMul-op0",
            "fc1.weight.grad",
            "train/loss",
        ];
        let names = Names::of(all.into_iter());
        assert_eq!(names.short(all[0]), "…/0-Dense/MatMul-op0");
        assert_eq!(names.short(all[1]), "Default/…/2-Dense/MatMul-op0");
        assert_eq!(names.short(all[2]), "Gradients/…/2-Dense/MatMul-op0");
        assert_eq!(names.short(all[3]), "fc1.weight.grad");
        assert_eq!(names.short(all[4]), "train/loss");
    }
}
