//! The order of names in every list, on the server and on the page: `fc2` before `fc10`.

use std::cmp::Ordering;

/// Compares two names segment by segment, with runs of digits as numbers. Names that share a prefix up to a `/` stay
/// together; names that differ in leading zeros alone are adjacent, so that only equal names compare as equal.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a_segments, mut b_segments) = (a.split('/'), b.split('/'));
    loop {
        match (a_segments.next(), b_segments.next()) {
            (Some(a), Some(b)) => {
                let order = segment(a, b).then_with(|| a.cmp(b));
                if order != Ordering::Equal {
                    return order;
                }
            }
            (a, b) => return a.is_some().cmp(&b.is_some()),
        }
    }
}

fn segment(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    while !a_rest.is_empty() && !b_rest.is_empty() {
        let (a_head, a_number, a_tail) = chunk(a_rest);
        let (b_head, b_number, b_tail) = chunk(b_rest);
        let order = a_head.cmp(b_head).then_with(|| a_number.cmp(&b_number));
        if order != Ordering::Equal {
            return order;
        }
        (a_rest, b_rest) = (a_tail, b_tail);
    }
    a_rest.len().cmp(&b_rest.len())
}

/// Splits text into the part before the first digit, the number there as its length and digits, which order like it,
/// and the rest.
fn chunk(text: &str) -> (&str, (usize, &str), &str) {
    let digits_at = text.bytes().position(|byte| byte.is_ascii_digit());
    let (head, tail) = text.split_at(digits_at.unwrap_or(text.len()));
    let digits_end = tail.bytes().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = tail.split_at(digits_end.unwrap_or(tail.len()));
    let number = digits.trim_start_matches('0');
    (head, (number.len(), number), rest)
}

/// Place of a scalar among the cards by its name: 0 for losses, 2 for `epoch` and others that count time, and for a result that
/// Lightning records without a value, 3 for the load of the machine.
pub fn importance(tag: &str) -> u8 {
    if tag.starts_with("system/") {
        return 3;
    }
    let name = tag.rsplit('/').next().unwrap_or(tag).to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    if matches!(&*name, "epoch" | "hp_metric" | "global_step") {
        2
    } else {
        u8::from(!words.any(|word| word == "loss"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort_by(|a, b| natural(a, b));
        names
    }

    #[test]
    fn numbers_count_and_groups_stay_together() {
        let names = ["fc10.weight", "fc2", "fc1.weight", "fc", "fc2.bias", "fc1"];
        let wanted = ["fc", "fc1", "fc1.weight", "fc2", "fc2.bias", "fc10.weight"];
        assert_eq!(sorted(&names), wanted);
        let names = ["body.10.w", "body.9.w", "body.100.w"];
        assert_eq!(sorted(&names), ["body.9.w", "body.10.w", "body.100.w"]);
        let names = ["a01/y", "a1/x", "a/b", "a01/x", "a", "a10/x", "a2/x"];
        let wanted = ["a", "a/b", "a01/x", "a01/y", "a1/x", "a2/x", "a10/x"];
        assert_eq!(sorted(&names), wanted);
    }

    #[test]
    fn only_equal_names_are_equal_and_the_order_is_total() {
        let names = [
            "", "0", "00", "007", "7", "a", "a0", "a00b", "a0b", "é1", "a/", "a//b", "/",
        ];
        for a in names {
            for b in names {
                assert_eq!(natural(a, b), natural(b, a).reverse(), "{a} {b}");
                assert_eq!(natural(a, b) == Ordering::Equal, a == b, "{a} {b}");
                for c in names {
                    if natural(a, b) == Ordering::Less && natural(b, c) == Ordering::Less {
                        assert_eq!(natural(a, c), Ordering::Less, "{a} {b} {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn losses_come_first_and_clocks_and_the_machine_last() {
        let mut tags = [
            "epoch",
            "hp_metric",
            "lr-Adam",
            "system/memory_gb",
            "train/loss",
            "val_loss",
        ];
        tags.sort_by_key(|tag| importance(tag));
        let expected = [
            "train/loss",
            "val_loss",
            "lr-Adam",
            "epoch",
            "hp_metric",
            "system/memory_gb",
        ];
        assert_eq!(tags, expected);
        assert_eq!(importance("loss/accuracy"), 1);
    }
}
