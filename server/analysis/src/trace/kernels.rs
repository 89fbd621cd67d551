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

/// `true` for the name of a copy between host and device: `Memcpy HtoD (Pageable -> Device)`.
pub fn is_over_the_bus(name: &str) -> bool {
    ["HtoD", "DtoH", "HostToDevice", "DeviceToHost"]
        .iter()
        .any(|way| name.contains(way))
}

/// Parts of names of kernels that use matrix units: shapes of their instructions, and libraries and kernels built on them.
const MATRIX_UNITS: [&str; 24] = [
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
    "nvjet",
    "flash_fwd",
    "flash_bwd",
    "fmha",
    "attn_fwd",
    "attn_bwd",
    "mfma",
    "trtllm_gemm",
];

/// Parts of names of products without matrix units: single and double precision, and those with a vector.
const PLAIN: [&str; 6] = ["sgemm", "dgemm", "cgemm", "zgemm", "gemv", "simt"];

/// Parts of the names of operators that multiply matrices.
const PRODUCTS: [&str; 8] = [
    "mm",
    "matmul",
    "conv",
    "linear",
    "attention",
    "gemm",
    "einsum",
    "lstm",
];

/// True for the name of an operator that multiplies matrices.
pub fn multiplies(operator: &str) -> bool {
    let name = operator.to_ascii_lowercase();
    PRODUCTS.iter().any(|part| name.contains(part))
}

/// Use of the matrix units of a device (tensor cores of NVIDIA, matrix cores of AMD), by the name of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixUnits {
    /// They are used.
    Used,
    /// They are not used.
    Unused,
    /// The name does not tell.
    Unknown,
}

/// Use of matrix units by a kernel of this name: known for the libraries of NVIDIA and AMD and for attention.
pub fn matrix_units(name: &str) -> MatrixUnits {
    let name = name.to_ascii_lowercase();
    // Products of AMD's library name the instruction: `Cijk_…_MI16x16x1`; those of TensorRT-LLM the tile: `bmm_…_m128x16x32`.
    let is_of_amd = name.contains("cijk_");
    let uses = MATRIX_UNITS.iter().any(|part| name.contains(part))
        || (is_of_amd && has_shape(&name, "_mi"))
        || (name.contains("bmm_") && has_shape(&name, "_m"));
    if uses {
        MatrixUnits::Used
    } else if is_of_amd || PLAIN.iter().any(|part| name.contains(part)) {
        MatrixUnits::Unused
    } else {
        MatrixUnits::Unknown
    }
}

/// `true` if a prefix is followed by numbers with an `x` between them.
fn has_shape(name: &str, prefix: &str) -> bool {
    name.split(prefix).skip(1).any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest.as_bytes().get(digits) == Some(&b'x')
    })
}

/// `true` if a kernel uses matrix units by its name.
pub fn uses_tensor_cores(name: &str) -> bool {
    matrix_units(name) == MatrixUnits::Used
}

/// Use of tensor cores by the names of the kernels of a model.
#[derive(Clone, Debug, Default)]
pub struct TensorCores {
    names: HashMap<TextId, MatrixUnits, foldhash::fast::RandomState>,
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
                .or_insert_with(|| matrix_units(model.name(slice)));
        }
        Self { names }
    }

    /// `true` if any kernel uses them.
    pub fn is_any(&self) -> bool {
        self.names.values().any(|units| *units == MatrixUnits::Used)
    }

    /// `true` if the names of the kernels tell the use for any of them.
    pub fn is_known(&self) -> bool {
        self.names
            .values()
            .any(|units| *units != MatrixUnits::Unknown)
    }

    /// `true` for a kernel that uses tensor cores.
    pub fn uses(&self, model: &Model, slice: u32) -> bool {
        let name = model.trace.slices.names.get(slice as usize);
        name.and_then(|name| self.names.get(name)) == Some(&MatrixUnits::Used)
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
    fn copies_from_and_to_the_host_are_over_the_bus() {
        assert!(is_over_the_bus("Memcpy HtoD (Pageable -> Device)"));
        assert!(
            is_over_the_bus("CopyDeviceToHost")
                && is_over_the_bus("Memcpy DtoH (Device -> Pinned)")
        );
        assert!(!is_over_the_bus("Memcpy DtoD (Device -> Device)"));
    }

    #[test]
    fn names_of_libraries_tell_tensor_cores() {
        for name in [
            "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn",
            "volta_h884gemm_64x64",
            "sm80_xmma_gemm_f16f16_f16f32",
            "cutlass_80_tensorop_f16_s16816gemm",
            "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 64>>",
            "fmhaSm100aKernel_QkvBfloat16OBfloat16H128",
            "bmm_Bfloat16_E4m3_Fp32_t128x16x128_m128x16x32",
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN",
            "attn_fwd",
            "paged_attention_ll4mi_QKV_mfma16_kernel",
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
        for name in [
            "volta_sgemm_128x64_nn",
            "Cijk_Ailk_Bljk_SB_MT64x64x8_SE_K1",
            "gemv2T_kernel_val",
        ] {
            assert_eq!(matrix_units(name), MatrixUnits::Unused, "{name}");
        }
        for name in ["triton_mm_fused_3", "_matmul_ogs_NNT_bf16xbf16", "gemm_a"] {
            assert_eq!(matrix_units(name), MatrixUnits::Unknown, "{name}");
        }
    }
}
