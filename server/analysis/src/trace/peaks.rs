//! Peak rates of devices: dense products of matrices by type of number, and their memory; by product name.

use trainscope_format::trace::Shapes;

/// FLOP per second of one device, dense (without sparsity), sums in f32.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Peak {
    /// Words of the product name, all of which a device's name has.
    words: &'static [&'static str],
    float32: f64,
    /// f32 numbers on tensor cores (TF32); equal to `float32` if the device has no tensor cores for them.
    tf32: f64,
    /// f16 and bf16.
    half: f64,
    /// 8 bits: f8, or i8 for a device without f8; 0 if it has neither on tensor cores.
    eight: f64,
    /// Bytes per second of its memory.
    memory: f64,
}

const TERA: f64 = 1e12;

/// Rates in 10¹²: f32, TF32, 16 bits, 8 bits, bytes of memory.
const fn peak(words: &'static [&'static str], tera: [f64; 5]) -> Peak {
    Peak {
        words,
        float32: tera[0] * TERA,
        tf32: tera[1] * TERA,
        half: tera[2] * TERA,
        eight: tera[3] * TERA,
        memory: tera[4] * TERA,
    }
}

/// The first entry with all its words in the name applies.
const PEAKS: [Peak; 32] = [
    // NVIDIA HGX B200 data sheet, one of eight.
    peak(&["b200"], [75.0, 1125.0, 2250.0, 4500.0, 7.75]),
    // NVIDIA GB200 NVL72 data sheet, one of 72.
    peak(&["gb200"], [80.0, 1250.0, 2500.0, 5000.0, 8.0]),
    // NVIDIA GH200 data sheet: 144 GB of HBM3e, 96 GB of HBM3. Its name has the memory of the processor.
    peak(&["gh200", "144g"], [67.0, 494.7, 989.4, 1978.9, 4.9]),
    peak(&["gh200"], [67.0, 494.7, 989.4, 1978.9, 4.0]),
    // NVIDIA H200 and H20 data sheets.
    peak(&["h200"], [67.0, 494.7, 989.4, 1978.9, 4.8]),
    peak(&["h20"], [44.0, 74.0, 148.0, 296.0, 4.0]),
    // NVIDIA H100 data sheet: PCIe, NVL, SXM.
    peak(&["h100", "pcie"], [51.0, 378.0, 756.0, 1513.0, 2.0]),
    peak(&["h100", "nvl"], [60.0, 417.5, 835.5, 1670.5, 3.9]),
    peak(&["h100"], [67.0, 494.7, 989.4, 1978.9, 3.35]),
    // NVIDIA H800: an H100 with slower links between devices.
    peak(&["h800"], [67.0, 494.7, 989.4, 1978.9, 3.35]),
    // NVIDIA A100 data sheet: 80 GB on PCIe, 80 GB, 40 GB.
    peak(
        &["a100", "80gb", "pcie"],
        [19.5, 156.0, 312.0, 624.0, 1.935],
    ),
    peak(&["a100", "80gb"], [19.5, 156.0, 312.0, 624.0, 2.039]),
    peak(&["a100"], [19.5, 156.0, 312.0, 624.0, 1.555]),
    // NVIDIA A800: an A100 of 80 GB with slower links between devices.
    peak(&["a800"], [19.5, 156.0, 312.0, 624.0, 2.039]),
    // NVIDIA A40, A30 and A10 data sheets.
    peak(&["a40"], [37.4, 74.8, 149.7, 299.3, 0.696]),
    peak(&["a30"], [10.3, 82.0, 165.0, 330.0, 0.933]),
    peak(&["a10"], [31.2, 62.5, 125.0, 250.0, 0.6]),
    // NVIDIA RTX A6000 data sheet.
    peak(&["a6000"], [38.7, 77.4, 154.8, 309.7, 0.768]),
    // NVIDIA L40S, L40 and L4 data sheets.
    peak(&["l40s"], [91.6, 183.0, 362.0, 733.0, 0.864]),
    peak(&["l40"], [90.5, 90.5, 181.0, 362.0, 0.864]),
    peak(&["l4"], [30.3, 60.0, 121.0, 242.5, 0.3]),
    // NVIDIA V100 data sheet: PCIe, SXM2.
    peak(&["v100", "pcie"], [14.0, 14.0, 112.0, 0.0, 0.9]),
    peak(&["v100"], [15.7, 15.7, 125.0, 0.0, 0.9]),
    // NVIDIA T4 data sheet.
    peak(&["t4"], [8.1, 8.1, 65.0, 130.0, 0.32]),
    // NVIDIA Blackwell architecture paper, appendix A: GeForce RTX 5090.
    peak(&["5090"], [104.8, 104.8, 209.5, 419.0, 1.792]),
    // NVIDIA Ada architecture paper, appendix A: GeForce RTX 4090.
    peak(&["4090"], [82.6, 82.6, 165.2, 330.3, 1.008]),
    // NVIDIA Ampere GA102 architecture paper, appendix A: GeForce RTX 3090.
    peak(&["3090"], [35.6, 35.6, 71.0, 284.0, 0.936]),
    // AMD Instinct MI210, MI250X, MI300X, MI325X and MI355X data sheets. Each half of an MI250X is a device.
    peak(&["mi210"], [45.3, 45.3, 181.0, 181.0, 1.638]),
    peak(&["mi250x"], [47.9, 47.9, 191.5, 191.5, 1.638]),
    peak(&["mi300x"], [163.4, 653.7, 1307.4, 2614.9, 5.3]),
    peak(&["mi325x"], [163.4, 653.7, 1307.4, 2614.9, 6.0]),
    peak(&["mi355x"], [157.3, 157.3, 2516.6, 5033.2, 8.0]),
];

/// Type of the numbers that an operator multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// f32; also if the file does not name a type.
    Float32,
    /// f16 or bf16.
    Half,
    /// f8 or i8.
    Eight,
}

/// FLOPs by the type of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlopsByType {
    float32: u64,
    half: u64,
    eight: u64,
}

impl FlopsByType {
    pub(super) fn add(&mut self, precision: Precision, flops: u64) {
        let sum = match precision {
            Precision::Float32 => &mut self.float32,
            Precision::Half => &mut self.half,
            Precision::Eight => &mut self.eight,
        };
        *sum = sum.saturating_add(flops);
    }
}

impl Precision {
    /// The type of the inputs of an operator.
    pub(super) fn of(shapes: &Shapes) -> Self {
        // Scales and outputs next to numbers of 8 bits have more bits.
        if shapes.types.contains("Float8") || shapes.types.contains("signed char") {
            Self::Eight
        } else if shapes.types.contains("Half") || shapes.types.contains("BFloat16") {
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

/// Peak of a device in FLOP per second for FLOPs by type: the rate at which all run one after the other, each type at
/// its peak. f32 runs on tensor cores if `tensor_cores` is true and no type has fewer bits. `None` for a device that is
/// not listed or has no peak for a type, or without FLOPs.
pub(super) fn peak_of(device: &str, flops: FlopsByType, tensor_cores: bool) -> Option<f64> {
    let peak = listed(device)?;
    let has_fewer_bits = flops.half > 0 || flops.eight > 0;
    let parts = [
        (
            flops.float32,
            peak.of_float32(tensor_cores && !has_fewer_bits),
        ),
        (flops.half, peak.half),
        (flops.eight, peak.eight),
    ];
    let (mut all, mut seconds) = (0.0, 0.0);
    for (flops, rate) in parts.into_iter().filter(|part| part.0 > 0) {
        if rate <= 0.0 {
            return None;
        }
        all += flops as f64;
        seconds += flops as f64 / rate;
    }
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
        Precision::Eight => peak.eight,
    };
    (flops > 0.0).then_some((flops, peak.memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn by_type(float32: u64, half: u64, eight: u64) -> FlopsByType {
        FlopsByType {
            float32,
            half,
            eight,
        }
    }

    #[test]
    fn devices_are_told_by_the_words_of_their_names() {
        let half =
            |name| peak_of(name, by_type(0, 1_000, 0), true).map(|peak| (peak / TERA).round());
        assert_eq!(half("NVIDIA A100-SXM4-80GB"), Some(312.0));
        assert_eq!(half("NVIDIA A10"), Some(125.0));
        assert_eq!(half("NVIDIA H100 PCIe"), Some(756.0));
        assert_eq!(half("NVIDIA H100 80GB HBM3"), Some(989.0));
        assert_eq!(half("Tesla V100-SXM2-16GB"), Some(125.0));
        assert_eq!(half("NVIDIA L4"), Some(121.0));
        assert_eq!(half("NVIDIA GB200"), Some(2500.0));
        assert_eq!(half("AMD Instinct MI250X"), Some(192.0));
        assert_eq!(half("GPU 0"), None);
        let memory = |name| Some(peaks_of(name, Precision::Half, true)?.1 / TERA);
        assert_eq!(memory("NVIDIA A100-SXM4-80GB"), Some(2.039));
        assert_eq!(memory("NVIDIA A100 80GB PCIe"), Some(1.935));
        assert_eq!(memory("NVIDIA GH200 480GB"), Some(4.0));
        assert_eq!(memory("NVIDIA GH200 144G HBM3e"), Some(4.9));
        assert_eq!(memory("A100-SXM4-40GB"), Some(1.555));
    }

    #[test]
    fn types_have_their_own_peaks() {
        let a100 = |float32, half, cores| peak_of("NVIDIA A100", by_type(float32, half, 0), cores);
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
        let eight = r#"["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "c10::BFloat16"]"#;
        assert_eq!(Precision::of(&shapes(eight)), Precision::Eight);
        let of_eight = |device| peak_of(device, by_type(0, 0, 7), true);
        assert_eq!(of_eight("NVIDIA H100 80GB HBM3"), Some(1_978.9 * TERA));
        assert_eq!(of_eight("Tesla V100-SXM2-16GB"), None);
        assert_eq!(
            peaks_of("Tesla V100-SXM2-16GB", Precision::Eight, true),
            None
        );
    }
}
