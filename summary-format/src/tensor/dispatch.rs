//! Chooses, when the program runs, the widest registers that the processor has.

/// Calls a function that is `inline(always)`, compiled for AVX-512, for AVX2, and for any processor.
macro_rules! with_widest_registers {
    ($function:path, $($argument:ident: $type:ty),* => $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")]
            fn avx512($($argument: $type),*) -> $result {
                $function($($argument),*)
            }
            #[target_feature(enable = "avx2,fma,f16c")]
            fn avx2($($argument: $type),*) -> $result {
                $function($($argument),*)
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") && is_x86_feature_detected!("fma") {
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                {
                    #[expect(unsafe_code, reason = "the processor has just been asked")]
                    return unsafe { avx512($($argument),*) };
                }
                #[expect(unsafe_code, reason = "the processor has just been asked")]
                return unsafe { avx2($($argument),*) };
            }
        }
        $function($($argument),*)
    }};
}

pub(super) use with_widest_registers;
