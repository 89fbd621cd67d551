//! Peak rates of devices: dense products of matrices by type of number, and their memory; by product name.

use trainscope_format::trace::Shapes;

/// FLOP per second of one device, dense (without sparsity), sums in f32.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Peak {
    /// Words of the product name, all of which a device's name has.
    words: &'static [&'static str],
    float32: f64,
    /// f32 numbers on tensor cores (TF32); that of `float32` if the device has none for them.
    tf32: f64,
    /// f16 and bf16.
    half: f64,
    /// Bytes per second of its memory.
    memory: f64,
}

const TERA: f64 = 1e12;

/// Rates in 10¹²: f32, TF32, 16 bits, bytes of memory.
const fn peak(words: &'static [&'static str], tera: [f64; 4]) -> Peak {
    Peak {
        words,
        float32: tera[0] * TERA,
        tf32: tera[1] * TERA,
        half: tera[2] * TERA,
        memory: tera[3] * TERA,
    }
}

/// The first entry whose words are in the name holds.
const PEAKS: [Peak; 21] = [
    // NVIDIA H200 data sheet.
    peak(&["h200"], [67.0, 494.7, 989.4, 4.8]),
    // NVIDIA H100 data sheet: PCIe, NVL, SXM.
    peak(&["h100", "pcie"], [51.0, 378.0, 756.0, 2.0]),
    peak(&["h100", "nvl"], [60.0, 417.5, 835.5, 3.9]),
    peak(&["h100"], [67.0, 494.7, 989.4, 3.35]),
    // NVIDIA A100 data sheet: 80 GB on PCIe, 80 GB, 40 GB.
    peak(&["a100", "80gb", "pcie"], [19.5, 156.0, 312.0, 1.935]),
    peak(&["a100", "80gb"], [19.5, 156.0, 312.0, 2.039]),
    peak(&["a100"], [19.5, 156.0, 312.0, 1.555]),
    // NVIDIA A40, A30 and A10 data sheets.
    peak(&["a40"], [37.4, 74.8, 149.7, 0.696]),
    peak(&["a30"], [10.3, 82.0, 165.0, 0.933]),
    peak(&["a10"], [31.2, 62.5, 125.0, 0.6]),
    // NVIDIA RTX A6000 data sheet.
    peak(&["a6000"], [38.7, 77.4, 154.8, 0.768]),
    // NVIDIA L40S, L40 and L4 data sheets.
    peak(&["l40s"], [91.6, 183.0, 362.0, 0.864]),
    peak(&["l40"], [90.5, 90.5, 181.0, 0.864]),
    peak(&["l4"], [30.3, 60.0, 121.0, 0.3]),
    // NVIDIA V100 data sheet: PCIe, SXM2.
    peak(&["v100", "pcie"], [14.0, 14.0, 112.0, 0.9]),
    peak(&["v100"], [15.7, 15.7, 125.0, 0.9]),
    // NVIDIA T4 data sheet.
    peak(&["t4"], [8.1, 8.1, 65.0, 0.32]),
    // NVIDIA Ada architecture paper, appendix A: GeForce RTX 4090.
    peak(&["4090"], [82.6, 82.6, 165.2, 1.008]),
    // NVIDIA Ampere GA102 architecture paper, appendix A: GeForce RTX 3090.
    peak(&["3090"], [35.6, 35.6, 71.0, 0.936]),
    // AMD Instinct MI210 and MI300X data sheets.
    peak(&["mi210"], [45.3, 45.3, 181.0, 1.638]),
    peak(&["mi300x"], [163.4, 653.7, 1307.4, 5.3]),
];

/// Type of the numbers that an operator multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// f32; also where the file names no type.
    Float32,
    /// f16 or bf16.
    Half,
}

impl Precision {
    /// The type of the inputs of an operator.
    pub(super) fn of(shapes: &Shapes) -> Self {
        if shapes.types.contains("Half") || shapes.types.contains("BFloat16") {
            Self::Half
        } else {
            Self::Float32
        }
    }
}

/// The peaks of a device by its name; `None` for one that is not listed.
fn listed(device: &str) -> Option<&'static Peak> {
    let name = device.to_ascii_lowercase();
    let words: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let has = |word: &&str| words.contains(word);
    PEAKS.iter().find(|peak| peak.words.iter().all(has))
}

impl Peak {
    fn of_float32(&self, is_on_tensor_cores: bool) -> f64 {
        if is_on_tensor_cores {
            self.tf32
        } else {
            self.float32
        }
    }
}

/// Peak of a device in FLOP per second for FLOPs in f32 and in 16 bits: the time that both would take one after the
/// other at their own peaks, as a rate. f32 runs on tensor cores if `tensor_cores` do anything beside 16 bits. `None`
/// for a device that is not listed, or without FLOPs.
pub(super) fn peak_of(device: &str, float32: u64, half: u64, tensor_cores: bool) -> Option<f64> {
    let peak = listed(device)?;
    let of_float32 = peak.of_float32(tensor_cores && half == 0);
    let seconds = float32 as f64 / of_float32 + half as f64 / peak.half;
    let all = float32 as f64 + half as f64;
    (seconds > 0.0).then_some(all / seconds)
}

/// Peaks of a device in FLOP per second for numbers of a type, and in bytes per second of its memory. f32 counts with
/// tensor cores if they are used at all: no attainable rate is above that.
pub(super) fn peaks_of(
    device: &str,
    precision: Precision,
    tensor_cores: bool,
) -> Option<(f64, f64)> {
    let peak = listed(device)?;
    let flops = match precision {
        Precision::Float32 => peak.of_float32(tensor_cores),
        Precision::Half => peak.half,
    };
    Some((flops, peak.memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_by_the_words_of_their_names() {
        let half = |name| peak_of(name, 0, 1_000, true).map(|peak| (peak / TERA).round());
        assert_eq!(half("NVIDIA A100-SXM4-80GB"), Some(312.0));
        assert_eq!(half("NVIDIA A10"), Some(125.0));
        assert_eq!(half("NVIDIA H100 PCIe"), Some(756.0));
        assert_eq!(half("NVIDIA H100 80GB HBM3"), Some(989.0));
        assert_eq!(half("Tesla V100-SXM2-16GB"), Some(125.0));
        assert_eq!(half("NVIDIA L4"), Some(121.0));
        assert_eq!(half("GPU 0"), None);
        let memory = |name| Some(peaks_of(name, Precision::Half, true)?.1 / TERA);
        assert_eq!(memory("NVIDIA A100-SXM4-80GB"), Some(2.039));
        assert_eq!(memory("NVIDIA A100 80GB PCIe"), Some(1.935));
        assert_eq!(memory("A100-SXM4-40GB"), Some(1.555));
    }

    #[test]
    fn types_have_their_own_peaks() {
        let a100 = |float32, half, cores| peak_of("NVIDIA A100", float32, half, cores);
        assert_eq!(a100(5, 0, false), Some(19.5e12));
        assert_eq!(a100(5, 0, true), Some(156e12));
        assert_eq!(a100(0, 0, true), None);
        // Half of the work in each: 1/19.5 + 1/312 of a unit of time for two units of work.
        let mixed = a100(1_000, 1_000, true).expect("listed");
        assert!((mixed / TERA - 36.705_882).abs() < 1e-5, "{mixed}");
        let shapes = |types: &str| Shapes {
            types: types.to_owned(),
            ..Shapes::default()
        };
        let half = r#"["c10::BFloat16", "c10::BFloat16"]"#;
        assert_eq!(Precision::of(&shapes(half)), Precision::Half);
        assert_eq!(Precision::of(&shapes(r#"["float"]"#)), Precision::Float32);
    }
}
