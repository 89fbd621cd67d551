//! Floating-point operations of operators, from the shapes of their inputs: 2 for a multiplication and an addition.

use std::collections::HashMap;

use trainscope_format::trace::{Shapes, TextId, TraceFormat};

use super::Model;
use super::calls::Calls;
use super::rules::{OperatorRule, volume, work_of};

/// FLOPs of each call; 0 if they are unknown, or counted at a call around it.
pub fn of_calls(model: &Model, calls: &Calls) -> Vec<u64> {
    let is_mindspore = model.trace.head.format == TraceFormat::Mindspore;
    outermost(model, calls, |name, shapes| {
        if shapes.flops > 0 {
            shapes.flops
        } else if is_mindspore {
            of_graph_operator(
                super::meaning::type_of(name, TraceFormat::Mindspore),
                shapes,
            )
        } else {
            of_operator(&model.operator_rules, name, shapes)
        }
    })
}

/// A count of each call by its name and shapes; 0 for calls within a counted call.
pub(super) fn outermost(
    model: &Model,
    calls: &Calls,
    of: impl Fn(&str, &Shapes) -> u64,
) -> Vec<u64> {
    let mut known: HashMap<(TextId, u32), u64, foldhash::fast::RandomState> = HashMap::default();
    let mut counts = vec![0; calls.len()];
    let mut is_within = vec![false; calls.len()];
    for call in 0..calls.len() {
        let parent = calls.parent(call);
        is_within[call] = parent.is_some_and(|parent| is_within[parent] || counts[parent] > 0);
        let slice = calls.slices[call] as usize;
        let detail = model.trace.slices.details[slice];
        let Some(shapes) = model.trace.shapes.get(detail as usize) else {
            continue;
        };
        if is_within[call] {
            continue;
        }
        let name = model.trace.slices.names[slice];
        let count = known.entry((name, detail));
        counts[call] = *count.or_insert_with(|| of(model.trace.texts.get(name), shapes));
    }
    counts
}

/// FLOPs of one call of an operator of `PyTorch`, of a library on top of it, or of a rule; 0 if they are unknown.
pub fn of_operator(rules: &[OperatorRule], name: &str, shapes: &Shapes) -> u64 {
    let dims = dims(&shapes.dims);
    if let Some(work) = work_of(rules, name) {
        let pairs = work.pairs(&dims);
        return pairs.map_or(0, |pairs| {
            u64::try_from(pairs.saturating_mul(2)).unwrap_or(u64::MAX)
        });
    }
    let Some(operator) = name.strip_prefix("aten::") else {
        return 0;
    };
    let input = |index: usize| dims.get(index).map_or(&[][..], |dims| dims);
    let pairs = match operator {
        "mm" | "bmm" => product(input(0), input(1)),
        "addmm" | "baddbmm" => product(input(1), input(2)),
        "conv1d" | "conv2d" | "conv3d" => convolution(shapes, input(0), input(1)),
        "convolution_backward" => convolution_backward(shapes, input(0), input(2)),
        _ => attention(operator, &dims),
    };
    pairs.map_or(0, |pairs| {
        u64::try_from(pairs.saturating_mul(2)).unwrap_or(u64::MAX)
    })
}

/// Multiplications of matrices, or of a batch of them.
fn product(left: &[u64], right: &[u64]) -> Option<u128> {
    let (([rows, inner], [_, columns]) | ([_, rows, inner], [_, _, columns])) = (left, right)
    else {
        return None;
    };
    let batch = if left.len() == 3 { left[0] } else { 1 };
    volume(&[batch, *rows, *inner, *columns])
}

/// Batch × outputs × weights of the kernel.
pub(super) fn convolution(shapes: &Shapes, input: &[u64], weight: &[u64]) -> Option<u128> {
    let concrete = strings(&shapes.concrete);
    let list = |index: usize| {
        concrete
            .get(index)
            .map(|text| numbers(text))
            .unwrap_or_default()
    };
    let (stride, padding, dilation) = (list(3), list(4), list(5));
    let (batch, size) = (input.first()?, input.get(2..)?);
    let kernel = weight.get(2..)?;
    if size.len() != kernel.len() || size.is_empty() {
        return None;
    }
    let mut pairs = volume(weight)?.checked_mul(u128::from(*batch))?;
    for (axis, (size, kernel)) in size.iter().zip(kernel).enumerate() {
        // One number holds for every axis.
        let at = |list: &[i64]| list.get(axis).or(list.first()).copied();
        let (stride, dilation) = (at(&stride)?.max(1), at(&dilation)?.max(1));
        let (size, kernel) = (i64::try_from(*size).ok()?, i64::try_from(*kernel).ok()?);
        let padding = match concrete.get(4).map(String::as_str) {
            // Both are texts if the caller did not give numbers.
            Some("valid") => 0,
            Some("same") => dilation.checked_mul(kernel.checked_sub(1)?)?,
            _ => at(&padding)?.checked_mul(2)?,
        };
        let reach = dilation.checked_mul(kernel.checked_sub(1)?)?;
        let room = size
            .checked_add(padding)?
            .checked_sub(reach)?
            .checked_sub(1)?;
        let outputs = room.div_euclid(stride).checked_add(1)?;
        pairs = pairs.checked_mul(u128::try_from(outputs).ok()?)?;
    }
    Some(pairs)
}

/// One convolution for each requested gradient of input and weight; the gradient of the bias is a sum.
fn convolution_backward(shapes: &Shapes, gradient: &[u64], weight: &[u64]) -> Option<u128> {
    let concrete = strings(&shapes.concrete);
    let is_transposed = concrete.get(7).is_some_and(|text| text == "True");
    let asked = concrete.last()?.matches(['T', 'F']).take(2);
    let asked = asked.filter(|flag| *flag == "T").count();
    let size = gradient.get(2..)?;
    if is_transposed {
        return None;
    }
    let once = volume(weight)?.checked_mul(volume(size)?)?;
    once.checked_mul(u128::from(*gradient.first()?))?
        .checked_mul(asked as u128)
}

/// Fused attention: the products with keys and values; backward 2.5 times as much. `scaled_dot_product_attention`
/// itself always calls one of these, or multiplies matrices that are counted separately.
fn attention(operator: &str, dims: &[Vec<u64>]) -> Option<u128> {
    let rest = operator.strip_prefix("_scaled_dot_product_")?;
    let is_backward = rest.contains("backward");
    if rest.starts_with("attention_math") || !rest.contains("attention") {
        return None;
    }
    // The gradient of the output comes first.
    let first = usize::from(is_backward);
    let [batch, heads, length, width] = dims.get(first)?.as_slice() else {
        return None;
    };
    let keys = dims.get(first + 1)?.get(2)?;
    let pairs = volume(&[2, *batch, *heads, *length, *keys, *width])?;
    Some(if is_backward {
        pairs.checked_mul(5)? / 2
    } else {
        pairs
    })
}

/// FLOPs of one execution of an operator of a graph of `MindSpore`. Convolutions tell neither their output nor their
/// padding: only the gradient of an input names both.
fn of_graph_operator(operator: &str, shapes: &Shapes) -> u64 {
    let dims = dims(&shapes.dims);
    let (Some(left), Some(right)) = (dims.first(), dims.get(1)) else {
        return 0;
    };
    let pairs = if operator.starts_with("MatMul") {
        graph_product(left, right)
    } else if operator == "Conv2DBackpropInput" {
        let size = left.get(2..).and_then(volume);
        let batch = left.first().map(|batch| u128::from(*batch));
        size.zip(volume(right))
            .zip(batch)
            .and_then(|((size, weight), batch)| size.checked_mul(weight)?.checked_mul(batch))
    } else {
        None
    };
    pairs.map_or(0, |pairs| {
        u64::try_from(pairs.saturating_mul(2)).unwrap_or(u64::MAX)
    })
}

/// Product of matrices that may be transposed: the axis of equal length is the inner one. Axes behind the first are
/// one, as in a flattened batch.
fn graph_product(left: &[u64], right: &[u64]) -> Option<u128> {
    let matrix = |dims: &[u64]| {
        let rest = dims.get(1..)?;
        let columns = u64::try_from(volume(rest)?).ok()?;
        (!rest.is_empty()).then_some((dims[0], columns))
    };
    let ((a, b), (c, d)) = (matrix(left)?, matrix(right)?);
    if b == c {
        volume(&[a, b, d])
    } else if b == d {
        volume(&[a, b, c])
    } else if a == c {
        volume(&[b, a, d])
    } else if a == d {
        volume(&[b, a, c])
    } else {
        None
    }
}

/// Shapes in a text such as `[[8, 16], [16, 4], []]`: the numbers of each list in the outer one. Lists of tensors,
/// which are nested deeper, are empty.
pub fn dims(text: &str) -> Vec<Vec<u64>> {
    let mut dims: Vec<Vec<u64>> = Vec::new();
    let mut depth = 0_usize;
    let mut number: Option<u64> = None;
    for byte in text.bytes() {
        if byte.is_ascii_digit() {
            let digit = u64::from(byte - b'0');
            let before = number.unwrap_or(0);
            number = Some(before.saturating_mul(10).saturating_add(digit));
            continue;
        }
        if let Some(number) = number.take()
            && depth == 2
            && let Some(last) = dims.last_mut()
        {
            last.push(number);
        }
        match byte {
            b'[' => {
                depth += 1;
                if depth == 2 {
                    dims.push(Vec::new());
                }
            }
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    dims
}

/// Texts in a list such as `["", "[1, 1]", "1"]`.
pub(super) fn strings(text: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut open: Option<String> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (&mut open, char) {
            (None, '"') => open = Some(String::new()),
            (Some(_), '"') => strings.extend(open.take()),
            (Some(text), '\\') => text.extend(chars.next()),
            (Some(text), _) => text.push(char),
            (None, _) => {}
        }
    }
    strings
}

/// Whole numbers in a text.
fn numbers(text: &str) -> Vec<i64> {
    let words = text.split(|char: char| !char.is_ascii_digit() && char != '-');
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::rules::OperatorWork;

    fn flops(name: &str, dims: &str, concrete: &str) -> u64 {
        let shapes = Shapes {
            dims: dims.to_owned(),
            concrete: concrete.to_owned(),
            ..Shapes::default()
        };
        of_operator(&[], name, &shapes)
    }

    #[test]
    fn products_count_two_for_each_pair() {
        assert_eq!(flops("aten::mm", "[[8, 16], [16, 4]]", ""), 1_024);
        assert_eq!(
            flops("aten::addmm", "[[4], [8, 16], [16, 4], [], []]", ""),
            1_024
        );
        assert_eq!(flops("aten::bmm", "[[3, 8, 16], [3, 16, 4]]", ""), 3_072);
        assert_eq!(
            flops("aten::baddbmm", "[[3, 8, 4], [3, 8, 16], [3, 16, 4]]", ""),
            3_072
        );
        for damaged in [
            "",
            "[",
            "[[8, 16]]",
            "[[8], [16]]",
            "[[[8, 16]], [[16, 4]]]",
            "[[-8]]",
        ] {
            assert_eq!(flops("aten::mm", damaged, ""), 0, "{damaged}");
        }
        assert_eq!(
            flops(
                "aten::mm",
                "[[99999999999, 99999999999], [99999999999, 9]]",
                ""
            ),
            u64::MAX
        );
    }

    #[test]
    fn products_of_libraries_may_store_the_right_factor_transposed() {
        // The last layer of a real model of vLLM.
        assert_eq!(
            flops(
                "vllm::rocm_unquantized_gemm",
                "[[32, 2880], [201088, 2880], []]",
                ""
            ),
            2 * 32 * 2_880 * 201_088
        );
        assert_eq!(
            flops("aten::_scaled_mm", "[[8, 16], [16, 4], [], []]", ""),
            1_024
        );
        assert_eq!(
            flops(
                "_C::cutlass_scaled_mm",
                "[[8, 4], [8, 16], [16, 4], [1]]",
                ""
            ),
            1_024
        );
        assert_eq!(flops("aiter::hipb_mm", "[[2, 8, 16], [16, 4]]", ""), 2_048);
        for damaged in ["", "[[8, 16]]", "[[], [16]]", "[[8, 16], [3, 4]]"] {
            assert_eq!(flops("aiter::hipb_mm", damaged, ""), 0, "{damaged}");
        }
        assert_eq!(flops("own::gemm", "[[8, 16], [16, 4]]", ""), 0);
        // Batch, length, heads, width: two products of 2 × 4 heads of 128 × 256 × 64.
        let sizes = "[[2, 128, 4, 64], [2, 256, 4, 64], [2, 256, 4, 64]]";
        let forward = 2 * 2 * (2 * 4 * 128 * 256 * 64);
        assert_eq!(flops("flash_attn::_flash_attn_forward", sizes, ""), forward);
        let with_gradient = "[[2, 128, 4, 64], [2, 128, 4, 64], [2, 256, 4, 64]]";
        let name = "flash_attn::_flash_attn_backward";
        assert_eq!(flops(name, with_gradient, ""), forward * 5 / 2);
    }

    #[test]
    fn rules_of_the_user_come_first() {
        let rule = |name: &str, work| OperatorRule {
            name: name.to_owned(),
            work,
        };
        let product = OperatorWork::Product { left: 2, right: 0 };
        let attention = OperatorWork::Attention {
            query: 0,
            key: 1,
            length_first: false,
            backward: false,
        };
        let rules = [
            rule("own::gemm*", product),
            rule("own::attend", attention),
            rule("aiter::hipb_mm", product),
        ];
        let of = |name: &str, dims: &str| {
            let shapes = Shapes {
                dims: dims.to_owned(),
                ..Shapes::default()
            };
            of_operator(&rules, name, &shapes)
        };
        assert_eq!(of("own::gemm_fp6", "[[16, 4], [], [8, 16]]"), 1_024);
        assert_eq!(of("aiter::hipb_mm", "[[16, 4], [], [8, 16]]"), 1_024);
        assert_eq!(
            of("own::attend", "[[2, 4, 8, 16], [2, 4, 32, 16]]"),
            2 * 2 * 2 * 4 * 8 * 32 * 16
        );
        assert_eq!(of("own::attend2", "[[2, 4, 8, 16], [2, 4, 32, 16]]"), 0);
    }

    #[test]
    fn convolutions_use_stride_padding_dilation_and_groups() {
        let inputs = r#"["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]"#;
        let dims = "[[8, 3, 16, 16], [8, 3, 3, 3], [8], [], [], [], []]";
        assert_eq!(
            flops("aten::conv2d", dims, inputs),
            2 * 8 * 16 * 16 * 8 * 3 * 9
        );
        let strided = r#"["", "", "", "[2]", "[0]", "[2]", "3"]"#;
        // (16 - 2·2 - 1) / 2 + 1 = 6 outputs on each axis; each output sees one of three channels.
        let dims = "[[8, 3, 16, 16], [6, 1, 3, 3], [], [], [], [], []]";
        assert_eq!(flops("aten::conv2d", dims, strided), 2 * 8 * 6 * 6 * 6 * 9);
        let same = r#"["", "", "", "[1]", "same", "[1]", "1"]"#;
        assert_eq!(
            flops("aten::conv1d", "[[2, 4, 10], [5, 4, 3]]", same),
            2 * 2 * 10 * 5 * 4 * 3
        );
        let both = r#"["", "", "", "[16]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, True]"]"#;
        let dims = "[[8, 16, 6, 6], [8, 8, 8, 8], [16, 8, 3, 3]]";
        let once = 2 * 8 * 16 * 36 * 8 * 9;
        assert_eq!(flops("aten::convolution_backward", dims, both), 2 * once);
        let weight = both.replace("[True, True", "[False, True");
        assert_eq!(flops("aten::convolution_backward", dims, &weight), once);
    }

    #[test]
    fn fused_attention_counts_both_products() {
        let dims = "[[2, 4, 12, 8], [2, 4, 20, 8], [2, 4, 20, 8]]";
        let once = 4 * 2 * 4 * 12 * 20 * 8;
        let name = "aten::_scaled_dot_product_flash_attention";
        assert_eq!(flops(name, dims, ""), once);
        let back = format!("[[2, 4, 12, 8], {}", &dims[1..]);
        assert_eq!(flops(&format!("{name}_backward"), &back, ""), once * 5 / 2);
        assert_eq!(flops("aten::scaled_dot_product_attention", dims, ""), 0);
    }

    #[test]
    fn products_of_graphs_find_the_inner_axis() {
        assert_eq!(graph_product(&[8, 32], &[10, 32]), Some(8 * 32 * 10));
        assert_eq!(graph_product(&[8, 10], &[8, 32]), Some(8 * 10 * 32));
        assert_eq!(graph_product(&[8, 8, 2, 2], &[32, 32]), Some(8 * 32 * 32));
        assert_eq!(graph_product(&[8, 3], &[5, 7]), None);
    }
}
