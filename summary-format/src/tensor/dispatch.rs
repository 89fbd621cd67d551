//! Register widths that the kernels are compiled for, and the choice among them at run time.

/// The register width of a pass over a tensor. The widest of the processor is the default; narrower ones are for
/// comparison, and give bit-identical results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers(pub(super) Width);

/// Private, so that callers cannot select registers that the processor lacks: the kernels rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// The baseline of the architecture.
    Plain,
    /// 256 bits: AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512 bits: AVX-512 F, VL, BW and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Registers {
    /// All widths of this processor, narrowest first; never empty.
    pub fn available() -> Vec<Self> {
        let all = [
            Width::Plain,
            #[cfg(target_arch = "x86_64")]
            Width::Avx2,
            #[cfg(target_arch = "x86_64")]
            Width::Avx512,
        ];
        all.into_iter()
            .filter(|width| width.is_present())
            .map(Self)
            .collect()
    }

    /// The widest of this processor.
    pub fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        for width in [Width::Avx512, Width::Avx2] {
            if width.is_present() {
                return Self(width);
            }
        }
        Self(Width::Plain)
    }
}

impl Default for Registers {
    fn default() -> Self {
        Self::widest()
    }
}

impl Width {
    fn is_present(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_present()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
            }
        }
    }
}

/// Calls a function that is `inline(always)`, compiled for the given [`Registers`].
macro_rules! with_registers {
    ($registers:expr, $function:path, $($argument:ident: $type:ty),* => $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")]
        fn avx512($($argument: $type),*) -> $result {
            $function($($argument),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn avx2($($argument: $type),*) -> $result {
            $function($($argument),*)
        }
        match $registers.0 {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "only made where the processor has been asked")]
            $crate::tensor::dispatch::Width::Avx512 => unsafe { avx512($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "only made where the processor has been asked")]
            $crate::tensor::dispatch::Width::Avx2 => unsafe { avx2($($argument),*) },
            $crate::tensor::dispatch::Width::Plain => $function($($argument),*),
        }
    }};
}

pub(super) use with_registers;

#[cfg(test)]
mod tests {
    use super::Registers;

    #[test]
    fn the_widest_is_the_last() {
        assert_eq!(Registers::available().last(), Some(&Registers::widest()));
    }
}
