//! Names of kernels.

use std::collections::HashMap;

use trainscope_format::trace::{SliceClass, TextId};

use super::Model;

/// Name of a kernel without result, template arguments and parameters.
pub fn short_name(name: &str) -> &str {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let rest = name.strip_prefix("void ").unwrap_or(name);
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|rest| rest.find(['<', '('])) {
        let at = from + at;
        if !rest[at..].starts_with(ANONYMOUS) {
            let short = rest[..at].trim_end();
            return if short.is_empty() { rest } else { short };
        }
        from = at + ANONYMOUS.len();
    }
    rest
}

/// Parts of names of kernels that use tensor cores: shapes of their instructions, and libraries built on them.
const TENSOR_CORES: [&str; 16] = [
    "884gemm",
    "1688gemm",
    "16816gemm",
    "s884",
    "s1688",
    "s16816",
    "h884",
    "h1688",
    "h16816",
    "i8816",
    "i16832",
    "hmma",
    "imma",
    "wgmma",
    "xmma_",
    "tensorop",
];

/// `true` if the name of a kernel says that it uses tensor cores.
pub fn uses_tensor_cores(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TENSOR_CORES.iter().any(|part| name.contains(part))
}

/// Names of kernels that use tensor cores.
#[derive(Clone, Debug, Default)]
pub struct TensorCores {
    names: HashMap<TextId, bool, foldhash::fast::RandomState>,
}

impl TensorCores {
    /// Looks at the name of every kernel once.
    pub fn new(model: &Model) -> Self {
        let mut names = HashMap::default();
        let slices = model.slices();
        for slice in slices.filter(|slice| model.class(*slice) == SliceClass::Kernel) {
            let name = model.trace.slices.names[slice as usize];
            names
                .entry(name)
                .or_insert_with(|| uses_tensor_cores(model.name(slice)));
        }
        Self { names }
    }

    /// `true` if any kernel uses them.
    pub fn is_any(&self) -> bool {
        self.names.values().any(|uses| *uses)
    }

    /// `true` for a kernel that uses tensor cores.
    pub fn uses(&self, model: &Model, slice: u32) -> bool {
        let name = model.trace.slices.names.get(slice as usize);
        name.and_then(|name| self.names.get(name)) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_have_no_arguments() {
        let cases = [
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float)",
                "at::native::vectorized_elementwise_kernel",
            ),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<T>(T)",
                "at::native::(anonymous namespace)::multi_tensor_apply_kernel",
            ),
            (
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            ),
            ("sm80_xmma_gemm_f16f16", "sm80_xmma_gemm_f16f16"),
            ("<unnamed>", "<unnamed>"),
            ("", ""),
        ];
        for (name, short) in cases {
            assert_eq!(short_name(name), short);
        }
    }

    #[test]
    fn names_of_libraries_tell_tensor_cores() {
        for name in [
            "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn",
            "volta_h884gemm_64x64",
            "sm80_xmma_gemm_f16f16_f16f32",
            "cutlass_80_tensorop_f16_s16816gemm",
        ] {
            assert!(uses_tensor_cores(name), "{name}");
        }
        for name in [
            "volta_sgemm_128x64_nn",
            "vectorized_elementwise_kernel",
            "gamma_beta_backward",
        ] {
            assert!(!uses_tensor_cores(name), "{name}");
        }
    }
}
