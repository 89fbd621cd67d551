//! Minimum bytes that operators have to move, and the share of the limits of memory and units that a device reached.
//!
//! The time of a call cannot be below its FLOPs at the peak of the units, nor below its bytes at the peak of the memory:
//! Williams, Waterman and Patterson, "Roofline", 2009. Bytes count each input once and each output once, as in `TraceLens`:
//! caches can hide some of them, and bad kernels move more.

use trainscope_api::profile::Bound;
use trainscope_format::trace::Shapes;

use super::flops::{convolution, dims, strings};
use super::rules::{OperatorRule, OperatorWork, sides, volume, work_of};

/// Operators whose output has the shape of their inputs, broadcast: without namespace, overload and the `_` of those that
/// change their input.
const ELEMENTWISE: [&str; 48] = [
    "_log_softmax",
    "_softmax",
    "_softmax_backward_data",
    "abs",
    "add",
    "addcdiv",
    "addcmul",
    "bitwise_and",
    "clamp",
    "clamp_min",
    "cos",
    "cudnn_batch_norm",
    "div",
    "eq",
    "erf",
    "exp",
    "ge",
    "gelu",
    "gelu_backward",
    "gt",
    "hardswish",
    "leaky_relu",
    "le",
    "lerp",
    "log",
    "lt",
    "masked_fill",
    "miopen_batch_norm",
    "mul",
    "native_batch_norm",
    "native_layer_norm",
    "ne",
    "neg",
    "pow",
    "reciprocal",
    "relu",
    "rsqrt",
    "rsub",
    "sigmoid",
    "sigmoid_backward",
    "silu",
    "silu_backward",
    "sin",
    "sqrt",
    "sub",
    "tanh",
    "threshold_backward",
    "where",
];
/// Bytes of one element; `None` for types that are not tensors.
fn element_len(name: &str) -> Option<u64> {
    Some(match name {
        "double" | "long int" | "long" | "c10::complex<float>" => 8,
        "float" | "int" => 4,
        "c10::Half" | "c10::BFloat16" | "short int" | "short" => 2,
        "bool"
        | "unsigned char"
        | "signed char"
        | "c10::Float8_e4m3fn"
        | "c10::Float8_e5m2"
        | "c10::Float8_e4m3fnuz"
        | "c10::Float8_e5m2fnuz" => 1,
        _ => return None,
    })
}

/// The tensors of a call.
struct Tensors {
    dims: Vec<Vec<u64>>,
    lens: Vec<Option<u64>>,
}

impl Tensors {
    fn new(shapes: &Shapes) -> Self {
        let types = strings(&shapes.types);
        Self {
            dims: dims(&shapes.dims),
            lens: types.iter().map(|name| element_len(name)).collect(),
        }
    }

    fn dims(&self, at: usize) -> Option<&[u64]> {
        self.dims.get(at).map(Vec::as_slice)
    }

    /// Bytes of an element of an input.
    fn len(&self, at: usize) -> Option<u128> {
        self.lens.get(at).copied().flatten().map(u128::from)
    }

    /// Bytes of an input; `None` if it is not a tensor.
    fn bytes(&self, at: usize) -> Option<u128> {
        volume(self.dims(at)?)?.checked_mul(self.len(at)?)
    }

    /// Bytes of the inputs of a range that are tensors.
    fn sum(&self, inputs: std::ops::Range<usize>) -> u128 {
        let bytes = inputs.filter_map(|at| self.bytes(at));
        bytes.fold(0, u128::saturating_add)
    }

    /// Elements of the inputs, broadcast.
    fn broadcast(&self) -> Option<u128> {
        let tensors = (0..self.dims.len()).filter(|at| self.len(*at).is_some());
        let all: Vec<&Vec<u64>> = tensors.filter_map(|at| self.dims.get(at)).collect();
        let axes = all.iter().map(|dims| dims.len()).max()?;
        let longest = (0..axes).map(|axis| {
            let lengths = all.iter().filter_map(|dims| {
                let before = axes - dims.len();
                dims.get(axis.checked_sub(before)?)
            });
            lengths.copied().max().unwrap_or(1)
        });
        volume(&longest.collect::<Vec<_>>())
    }
}

/// Bytes of all inputs of a call that are tensors.
pub(super) fn input_bytes(shapes: &Shapes) -> u64 {
    let tensors = Tensors::new(shapes);
    let bytes = tensors.sum(0..tensors.dims.len());
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Minimum bytes that one call of an operator of `PyTorch`, of a library on top of it, or of a rule moves; 0 if they
/// are unknown.
pub(super) fn bytes_of(rules: &[OperatorRule], name: &str, shapes: &Shapes) -> u64 {
    let bytes = match work_of(rules, name) {
        Some(work) => bytes_of_work(work, shapes),
        None => name
            .strip_prefix("aten::")
            .and_then(|operator| bytes_of_operator(operator, shapes)),
    };
    bytes.map_or(0, |bytes| u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// Inputs and output: an output of products of 8 bits has 16, that of attention has the size of the queries.
fn bytes_of_work(work: OperatorWork, shapes: &Shapes) -> Option<u128> {
    let tensors = Tensors::new(shapes);
    match work {
        OperatorWork::Product { left, right } => {
            let [rows, _, columns] = sides(tensors.dims(left)?, tensors.dims(right)?)?;
            let output = volume(&[rows, columns])?.checked_mul(tensors.len(left)?.max(2))?;
            let factors = tensors.bytes(left)?.checked_add(tensors.bytes(right)?)?;
            factors.checked_add(output)
        }
        OperatorWork::Attention {
            query,
            key,
            backward,
            ..
        } => {
            let inputs = tensors.bytes(query)?.checked_add(tensors.bytes(key)?)?;
            let forward = inputs.checked_mul(2)?;
            // Backward inputs, output and its gradient are read, and a gradient is written for each input.
            Some(if backward {
                forward.checked_mul(2)?
            } else {
                forward
            })
        }
    }
}

fn bytes_of_operator(operator: &str, shapes: &Shapes) -> Option<u128> {
    let tensors = Tensors::new(shapes);
    let all = tensors.dims.len();
    let plain = operator.strip_suffix('_').unwrap_or(operator);
    let product = |left: usize| {
        let (left_dims, right) = (tensors.dims(left)?, tensors.dims(left + 1)?);
        let (rows, columns) = (left_dims.split_last()?.1, right.last()?);
        let output = volume(rows)?.checked_mul(u128::from(*columns))?;
        let output = output.checked_mul(tensors.len(left)?)?;
        // Both factors are tensors, or nothing is known.
        tensors.bytes(left)?;
        tensors.bytes(left + 1)?;
        tensors.sum(0..left + 2).checked_add(output)
    };
    match plain {
        "mm" | "bmm" => product(0),
        "addmm" | "baddbmm" => product(1),
        "conv1d" | "conv2d" | "conv3d" => {
            let weight = tensors.dims(1)?;
            let pairs = convolution(shapes, tensors.dims(0)?, weight)?;
            // Each element of the output takes all weights of its channel.
            let of_output = volume(weight.get(1..)?)?;
            let output = pairs.checked_div(of_output)?.checked_mul(tensors.len(0)?)?;
            tensors.sum(0..3).checked_add(output)
        }
        "copy" => tensors.bytes(0)?.checked_add(tensors.bytes(1)?),
        "fill" | "zero" => tensors.bytes(0),
        _ if ELEMENTWISE.contains(&plain) => {
            let element = match plain {
                "eq" | "ge" | "gt" | "le" | "lt" | "ne" => 1,
                // The first input is the condition.
                "where" => tensors.len(1)?,
                _ => tensors.len(0)?,
            };
            let output = tensors.broadcast()?.checked_mul(element)?;
            tensors.sum(0..all).checked_add(output)
        }
        _ => attention(plain, &tensors),
    }
}

/// Fused attention: queries, keys and values are read, and an output as large as the queries is written; backward
/// everything is read with the gradient of the output, and three gradients are written.
fn attention(operator: &str, tensors: &Tensors) -> Option<u128> {
    let rest = operator.strip_prefix("_scaled_dot_product_")?;
    if rest.starts_with("attention_math") || !rest.contains("attention") {
        return None;
    }
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|at| tensors.bytes(at));
    if rest.contains("backward") {
        // The gradient of the output, then queries, keys and values, whose gradients have the same sizes.
        let inputs = second?.checked_add(third?)?.checked_add(fourth?)?;
        return first?.checked_mul(2)?.checked_add(inputs.checked_mul(2)?);
    }
    first?
        .checked_mul(2)?
        .checked_add(second?)?
        .checked_add(third?)
}

/// Shortest times of calls at the peaks of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ShortestTimes {
    /// Sum over the calls of the larger of both.
    pub(super) seconds: f64,
    pub(super) of_flops: f64,
    pub(super) of_bytes: f64,
}

impl ShortestTimes {
    /// Adds a call: FLOPs at a peak in FLOP per second, bytes at a peak in bytes per second.
    pub(super) fn add(&mut self, (flops, peak_flops): (u64, f64), (bytes, peak_bytes): (u64, f64)) {
        let (of_flops, of_bytes) = (flops as f64 / peak_flops, bytes as f64 / peak_bytes);
        self.seconds += of_flops.max(of_bytes);
        self.of_flops += of_flops;
        self.of_bytes += of_bytes;
    }

    /// Share of the time that the calls took; `None` without calls.
    pub(super) fn share_of(&self, nanos: i64) -> Option<f64> {
        (self.seconds > 0.0 && nanos > 0).then(|| self.seconds / (nanos as f64 / 1e9))
    }

    /// The larger sum; `None` without calls.
    pub(super) fn bound(&self) -> Option<Bound> {
        (self.seconds > 0.0).then_some(if self.of_bytes > self.of_flops {
            Bound::Memory
        } else {
            Bound::Compute
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(name: &str, dims: &str, types: &str) -> u64 {
        let shapes = Shapes {
            dims: dims.to_owned(),
            types: types.to_owned(),
            ..Shapes::default()
        };
        bytes_of(&[], name, &shapes)
    }

    #[test]
    fn products_of_libraries_read_their_factors_as_they_are_stored() {
        let eight = r#"["c10::Float8_e4m3fn", "c10::Float8_e4m3fn"]"#;
        let sizes = 8 * 16 + 16 * 4 + 2 * 8 * 4;
        assert_eq!(
            bytes("aten::_scaled_mm", "[[8, 16], [16, 4]]", eight),
            sizes
        );
        let half = r#"["c10::BFloat16", "c10::BFloat16", ""]"#;
        let gemm = "vllm::rocm_unquantized_gemm";
        assert_eq!(
            bytes(gemm, "[[8, 16], [4, 16], []]", half),
            2 * (8 * 16 + 4 * 16 + 8 * 4)
        );
        assert_eq!(bytes(gemm, "[[8, 16], [4, 15], []]", half), 0);
    }

    #[test]
    fn products_read_both_factors_and_write_one_matrix() {
        let half = r#"["c10::Half", "c10::Half"]"#;
        assert_eq!(
            bytes("aten::mm", "[[8, 16], [16, 4]]", half),
            2 * (128 + 64 + 32)
        );
        let three = r#"["float", "float", "float", "Scalar", "Scalar"]"#;
        assert_eq!(
            bytes("aten::addmm", "[[4], [8, 16], [16, 4], [], []]", three),
            4 * (4 + 128 + 64 + 32)
        );
        assert_eq!(
            bytes("aten::bmm", "[[3, 8, 16], [3, 16, 4]]", half),
            2 * 3 * (128 + 64 + 32)
        );
        // Without types or shapes nothing is known.
        assert_eq!(bytes("aten::mm", "[[8, 16], [16, 4]]", ""), 0);
        assert_eq!(bytes("aten::mm", "[[8, 16]]", half), 0);
        let huge = "[[99999999999, 99999999999], [99999999999, 99999999999]]";
        assert_eq!(bytes("aten::mm", huge, half), u64::MAX);
    }

    #[test]
    fn elements_are_broadcast() {
        let two = r#"["float", "float", "Scalar"]"#;
        assert_eq!(
            bytes("aten::add", "[[8, 16], [16], []]", two),
            4 * (128 + 16 + 128)
        );
        assert_eq!(
            bytes("aten::mul_", "[[8, 1], [1, 16]]", two),
            4 * (8 + 16 + 128)
        );
        assert_eq!(
            bytes("aten::relu", "[[8, 16]]", r#"["c10::BFloat16"]"#),
            2 * 256
        );
        let mixed = r#"["float", "c10::Half", "bool"]"#;
        assert_eq!(bytes("aten::copy_", "[[10], [10], []]", mixed), 40 + 20);
        assert_eq!(
            bytes("aten::eq", "[[10], []]", r#"["float", "Scalar"]"#),
            40 + 10
        );
        let chosen = r#"["bool", "c10::Half", "c10::Half"]"#;
        assert_eq!(
            bytes("aten::where", "[[10], [10], []]", chosen),
            10 + 20 + 2 + 20
        );
        assert_eq!(bytes("aten::zero_", "[[10]]", two), 40);
        assert_eq!(bytes("aten::reshape", "[[10], []]", two), 0);
        assert_eq!(bytes("mylib::add", "[[10], [10]]", two), 0);
    }

    #[test]
    fn convolutions_write_what_their_padding_and_stride_leave() {
        let shapes = Shapes {
            dims: "[[8, 3, 16, 16], [6, 3, 3, 3], [6], [], [], [], []]".to_owned(),
            types: r#"["float", "float", "float"]"#.to_owned(),
            concrete: r#"["", "", "", "[2]", "[0]", "[1]", "1"]"#.to_owned(),
            ..Shapes::default()
        };
        // (16 - 3) / 2 + 1 = 7 outputs on each axis.
        let elements = 8 * 3 * 256 + 6 * 27 + 6 + 8 * 6 * 49;
        assert_eq!(bytes_of(&[], "aten::conv2d", &shapes), 4 * elements);
    }

    #[test]
    fn attention_moves_its_four_tensors() {
        let half = r#"["c10::Half", "c10::Half", "c10::Half", "c10::Half"]"#;
        let dims = "[[2, 4, 12, 8], [2, 4, 20, 8], [2, 4, 20, 8]]";
        let (queries, keys) = (2 * 4 * 12 * 8, 2 * 4 * 20 * 8);
        let name = "aten::_scaled_dot_product_flash_attention";
        assert_eq!(bytes(name, dims, half), 2 * (2 * queries + 2 * keys));
        let back = format!("[[2, 4, 12, 8], {}", &dims[1..]);
        assert_eq!(
            bytes(&format!("{name}_backward"), &back, half),
            2 * (2 * queries + 2 * (queries + 2 * keys))
        );
    }

    #[test]
    fn the_larger_time_bounds() {
        let mut times = ShortestTimes::default();
        assert_eq!(times.bound(), None);
        times.add((100, 10.0), (30, 10.0));
        assert_eq!((times.seconds, times.bound()), (10.0, Some(Bound::Compute)));
        times.add((0, 10.0), (300, 10.0));
        assert_eq!((times.seconds, times.bound()), (40.0, Some(Bound::Memory)));
    }
}
