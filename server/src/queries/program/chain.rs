//! The path of a value that is not finite, from the operation that produced it to the loss.

use trainscope_api::Sentence;
use trainscope_api::program::{ChainLink, RecordedFact};
use trainscope_format::digits;

use super::of_kind;

/// The operations in the order of the forward pass.
pub(super) fn chain(facts: &[RecordedFact]) -> Vec<ChainLink> {
    let mut links: Vec<(u64, &RecordedFact)> = of_kind(facts, "chain_to_loss")
        .filter_map(|fact| Some((fact.subject.parse().ok()?, fact)))
        .collect();
    links.sort_by_key(|(number, _)| *number);
    links.into_iter().map(|(_, fact)| link(fact)).collect()
}

fn link(fact: &RecordedFact) -> ChainLink {
    let count = |name: &str| fact.number(name).and_then(whole);
    let (elements, nan, infinite, zeros) = (
        count("elements"),
        count("nan"),
        count("infinite"),
        count("zeros"),
    );
    ChainLink {
        operation: fact.text("operation").to_owned(),
        module: fact.text("module").to_owned(),
        is_first: fact.number("is_first") == Some(1.0),
        left_out: count("left_out").unwrap_or(0),
        elements,
        nan,
        infinite,
        zeros,
        result: result(elements, nan, infinite, zeros),
        source: fact.source.clone(),
    }
}

/// A count; `None` for any other number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number that is not negative; large ones saturate"
)]
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

/// The result of an operation: NaN comes before infinities, and they before zeros.
fn result(
    elements: Option<u64>,
    nan: Option<u64>,
    infinite: Option<u64>,
    zeros: Option<u64>,
) -> Sentence {
    let Some(all) = elements else {
        return Sentence::new("not kept", "未保留");
    };
    let kinds = [
        (nan, "NaN", "NaN"),
        (infinite, "infinite", "Inf"),
        (zeros, "0", "0"),
    ];
    let found = kinds.into_iter().find(|(count, ..)| count.unwrap_or(0) > 0);
    let Some((Some(count), en, zh)) = found else {
        return Sentence::new("finite", "有限");
    };
    if all == 1 {
        return Sentence::new(en, zh);
    }
    let (count, all) = (digits::count(count), digits::count(all));
    let verb = if count == "1" { "is" } else { "are" };
    Sentence::new(
        format!("{count} of {all} {verb} {en}"),
        format!("{all} 个中有 {count} 个为 {zh}"),
    )
}

#[cfg(test)]
mod tests {
    use trainscope_format::float::Float;

    use super::*;

    fn fact(subject: &str, numbers: &[(&str, f64)]) -> RecordedFact {
        let numbers = numbers.iter();
        RecordedFact {
            kind: "chain_to_loss".into(),
            subject: subject.into(),
            numbers: numbers
                .map(|(name, number)| ((*name).into(), Float(*number)))
                .collect(),
            ..RecordedFact::default()
        }
    }

    #[test]
    fn links_are_in_the_order_of_their_numbers() {
        let facts = ["10", "9", "x", "2"].map(|subject| fact(subject, &[("elements", 4.0)]));
        assert_eq!(chain(&facts).len(), 3);
        let facts = [fact("10", &[("left_out", 1.0)]), fact("9", &[])];
        let left_out: Vec<u64> = chain(&facts).iter().map(|link| link.left_out).collect();
        assert_eq!(left_out, [0, 1]);
    }

    #[test]
    fn results_are_told_by_their_worst_elements() {
        let said = |numbers: &[(&str, f64)]| chain(&[fact("0", numbers)])[0].result.en.clone();
        assert_eq!(said(&[]), "not kept");
        assert_eq!(said(&[("elements", f64::NAN)]), "not kept");
        assert_eq!(said(&[("elements", 8.0), ("nan", 0.0)]), "finite");
        assert_eq!(said(&[("elements", 1.0), ("nan", 1.0)]), "NaN");
        let many = [
            ("elements", 4096.0),
            ("zeros", 9.0),
            ("infinite", 3.0),
            ("nan", 0.0),
        ];
        assert_eq!(said(&many), "3 of 4,096 are infinite");
        assert_eq!(
            said(&[("elements", 2000.0), ("zeros", 1.0)]),
            "1 of 2,000 is 0"
        );
    }
}
