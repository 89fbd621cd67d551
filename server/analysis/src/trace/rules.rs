//! Operators on top of `PyTorch` whose FLOPs and bytes follow from the shapes of their inputs: those of libraries, by the
//! schemas that they register, and those that a user names.

/// An operator with what it computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRule {
    /// Name without overload, as `mylib::gemm`; with `*` at its end, the start of names.
    pub name: String,
    /// Its work.
    pub work: OperatorWork,
}

/// Work of an operator, by the places of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorWork {
    /// A product of matrices; the right one may be stored transposed.
    Product {
        /// Place of the left factor, of any number of axes.
        left: usize,
        /// Place of the right factor, of two axes.
        right: usize,
    },
    /// Fused attention.
    Attention {
        /// Place of the queries.
        query: usize,
        /// Place of the keys; values are as large.
        key: usize,
        /// `true` for batch, length, heads, width; else batch, heads, length, width.
        length_first: bool,
        /// `true` for gradients.
        backward: bool,
    },
}

const fn product(left: usize) -> OperatorWork {
    OperatorWork::Product {
        left,
        right: left + 1,
    }
}

const fn flash(query: usize, backward: bool) -> OperatorWork {
    OperatorWork::Attention {
        query,
        key: query + 1,
        length_first: true,
        backward,
    }
}

/// Operators of libraries.
const LIBRARIES: [(&str, OperatorWork); 13] = [
    ("aten::_scaled_mm", product(0)),
    ("vllm::rocm_unquantized_gemm", product(0)),
    ("vllm::rocm_unquantized_gemm_impl", product(0)),
    ("_C::cutlass_scaled_mm", product(1)),
    ("_rocm_C::wvSplitK", product(0)),
    ("aiter::gemm_a8w8", product(0)),
    ("aiter::gemm_a8w8_CK", product(0)),
    ("aiter::gemm_a16w16", product(0)),
    ("aiter::hipb_mm", product(0)),
    ("flash_attn::_flash_attn_forward", flash(0, false)),
    ("flash_attn::_flash_attn_backward", flash(1, true)),
    ("flash_attn_3::fwd", flash(0, false)),
    ("aiter::fmha_v3_fwd", flash(0, false)),
];

/// Work of an operator by its name: rules of the user come first.
pub(super) fn work_of(rules: &[OperatorRule], name: &str) -> Option<OperatorWork> {
    let is_own = |rule: &&OperatorRule| match rule.name.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => rule.name == name,
    };
    let of_user = rules.iter().find(is_own).map(|rule| rule.work);
    let of_library = || {
        let found = LIBRARIES.iter().find(|(known, _)| *known == name);
        found.map(|(_, work)| *work)
    };
    of_user.or_else(of_library)
}

impl OperatorWork {
    /// Multiplications of a call by the shapes of its inputs.
    pub(super) fn pairs(self, dims: &[Vec<u64>]) -> Option<u128> {
        match self {
            Self::Product { left, right } => volume(&sides(dims.get(left)?, dims.get(right)?)?),
            Self::Attention {
                query,
                key,
                length_first,
                backward,
            } => {
                let [batch, second, third, width] = dims.get(query)?.as_slice() else {
                    return None;
                };
                let keys = dims.get(key)?.get(if length_first { 1 } else { 2 })?;
                let pairs = volume(&[2, *batch, *second, *third, *keys, *width])?;
                // The backward pass has five products instead of two.
                Some(if backward {
                    pairs.checked_mul(5)? / 2
                } else {
                    pairs
                })
            }
        }
    }
}

/// Number of elements of a tensor; `None` if there are too many to count.
pub(super) fn volume(dims: &[u64]) -> Option<u128> {
    let mut factors = dims.iter().map(|dim| u128::from(*dim));
    factors.try_fold(1_u128, u128::checked_mul)
}

/// Rows, inner length and columns of a product: its right factor may be stored transposed.
pub(super) fn sides(left: &[u64], right: &[u64]) -> Option<[u64; 3]> {
    let (inner, rows) = left.split_last()?;
    let rows = u64::try_from(volume(rows)?).ok()?;
    match right {
        [first, columns] if first == inner => Some([rows, *inner, *columns]),
        [columns, last] if last == inner => Some([rows, *inner, *columns]),
        _ => None,
    }
}
