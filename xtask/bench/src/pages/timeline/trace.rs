//! A trace of five million events, as PyTorch's profiler writes it: steps, nested operators, launches, kernels with
//! flows, counters.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;

use xtask::console;
use xtask::random::Random;

/// Number of events of the file; a step more ends it.
const EVENTS: u64 = 5_000_000;
/// Start of the session since 1970, nanoseconds.
const BASE_NANOS: u64 = 1_790_857_026_000_000_000;
/// Start of the first step on the clock of the file, nanoseconds.
const BEGIN: u64 = 4_356_230_544_000_000;
/// Operators of a step on the thread that runs the model.
const OPERATORS: u64 = 600;
/// Numbers of processes and threads, as real files have them.
const HOST: u32 = 4_199;
const LOADER: u32 = 4_231;
const STREAMS: [u32; 2] = [7, 20];
/// Operators by name with the length of their kernels, nanoseconds.
const NAMES: [(&str, u64); 6] = [
    ("aten::linear", 61_000),
    ("aten::scaled_dot_product_attention", 118_000),
    ("aten::layer_norm", 14_000),
    ("aten::gelu", 9_000),
    ("aten::add", 4_000),
    ("aten::dropout", 6_000),
];

/// The folder with the run, which is written unless it exists.
pub(super) fn on_disk(scratch: &Path) -> Result<PathBuf> {
    let data = scratch.join("data");
    let (folder, finished) = (data.join("trace"), data.join("trace.finished"));
    if !finished.exists() {
        console::line(&format!("    write {}", folder.display()));
        let run = folder.join("run");
        fs::create_dir_all(&run)?;
        let file = File::create(run.join("host_4199.1790857026000000000.pt.trace.json"))?;
        let mut trace = Writer::new(BufWriter::with_capacity(1 << 20, file))?;
        let mut number = 0;
        while trace.events < EVENTS {
            trace.step(number)?;
            number += 1;
        }
        trace.finish()?;
        fs::write(&finished, "")?;
    }
    Ok(folder)
}

/// A slice of a host thread or of a stream.
struct Slice<'a> {
    category: &'a str,
    name: &'a str,
    process: u32,
    thread: u32,
    begin: u64,
    nanos: u64,
}

struct Writer<W> {
    file: W,
    random: Random,
    /// Time of the host, nanoseconds.
    now: u64,
    /// Time at which the device has done everything.
    idle_from: u64,
    launches: u64,
    events: u64,
}

impl<W: Write> Writer<W> {
    fn new(mut file: W) -> Result<Self> {
        writeln!(
            file,
            "{{\"schemaVersion\": 1, \"baseTimeNanoseconds\": {BASE_NANOS}, \
             \"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA H200\"}}],\n  \"traceEvents\": ["
        )?;
        Ok(Self {
            file,
            random: Random::new(7),
            now: BEGIN,
            idle_from: BEGIN,
            launches: 0,
            events: 0,
        })
    }

    /// A number of nanoseconds around a mean.
    fn around(&mut self, mean: u64) -> u64 {
        let factor = 0.8 + 0.4 * self.random.unit();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length of at most a second"
        )]
        let nanos = (mean as f64 * factor) as u64;
        nanos.max(1)
    }

    fn event(&mut self, text: &str) -> Result<()> {
        let comma = if self.events == 0 { "" } else { ",\n" };
        self.events += 1;
        Ok(write!(self.file, "{comma}  {text}")?)
    }

    fn slice(&mut self, slice: &Slice<'_>, arguments: &str) -> Result<()> {
        let Slice {
            category,
            name,
            process,
            thread,
            begin,
            nanos,
        } = slice;
        let (begin, length) = (micros(*begin), micros(*nanos));
        self.event(&format!(
            "{{\n    \"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": {process}, \
             \"tid\": {thread},\n    \"ts\": {begin}, \"dur\": {length},\n    \"args\": {{\n      {arguments}\n    }}\n  }}"
        ))
    }

    /// An end of an arrow from a launch to its kernel.
    fn flow(
        &mut self,
        phase: &str,
        launch: u64,
        (process, thread): (u32, u32),
        at: u64,
    ) -> Result<()> {
        let at = micros(at);
        self.event(&format!(
            "{{\n    \"ph\": \"{phase}\", \"id\": {launch}, \"pid\": {process}, \"tid\": {thread}, \
             \"ts\": {at},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }}"
        ))
    }

    fn step(&mut self, number: u64) -> Result<()> {
        let begin = self.now;
        let host = |category, name, begin, nanos| Slice {
            category,
            name,
            process: HOST,
            thread: HOST,
            begin,
            nanos,
        };
        let wait = self.around(400_000);
        let loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
        self.slice(
            &host("user_annotation", loader, begin, wait),
            "\"External id\": 1",
        )?;
        self.slice(
            &Slice {
                thread: LOADER,
                ..host("cpu_op", "aten::stack", begin, wait / 2)
            },
            "\"External id\": 2",
        )?;
        self.now += wait + 2_000;
        for at in 0..OPERATORS {
            self.operator(at)?;
        }
        let end = self.now.max(self.idle_from) + 5_000;
        let name = format!("ProfilerStep#{number}");
        self.slice(
            &host("user_annotation", &name, begin, end - begin),
            "\"External id\": 3",
        )?;
        let (at, value) = (micros(begin), 4.0 * self.random.unit());
        self.event(&format!(
            "{{\n    \"ph\": \"C\", \"name\": \"power\", \"pid\": 0, \"ts\": {at}, \"args\": {{\"W\": {value:.3}}}\n  }}"
        ))?;
        self.now = end + 20_000;
        Ok(())
    }

    /// An operator with two others in it, the innermost of which launches a kernel.
    fn operator(&mut self, at: u64) -> Result<()> {
        let (name, length) = NAMES[usize::try_from(at).unwrap_or(0) % NAMES.len()];
        let begin = self.now;
        let call = self.around(5_000);
        self.launches += 1;
        let launch = self.launches;
        let shapes = "\"External id\": 4, \"Sequence number\": 17, \"Fwd thread id\": 0, \
                      \"Input Dims\": [[16, 512, 1024], [1024, 1024], []], \"Input type\": [\"float\", \"float\", \"\"]";
        for (level, name) in [name, "aten::matmul", "aten::mm"].into_iter().enumerate() {
            let inside = 400 * level as u64;
            let operator = Slice {
                category: "cpu_op",
                name,
                process: HOST,
                thread: HOST,
                begin: begin + inside,
                nanos: call + 4_000 - 2 * inside,
            };
            self.slice(&operator, shapes)?;
        }
        let launched = begin + 1_500;
        let correlation = format!("\"External id\": 4, \"cbid\": 211, \"correlation\": {launch}");
        let launching = Slice {
            category: "cuda_runtime",
            name: "cudaLaunchKernel",
            process: HOST,
            thread: HOST,
            begin: launched,
            nanos: call,
        };
        self.slice(&launching, &correlation)?;
        let starts = (launched + call + 2_000).max(self.idle_from);
        let nanos = self.around(length);
        // Each twentieth sends gradients in parallel with the computation.
        let stream = STREAMS[usize::from(at % 20 == 19)];
        let kernel = Slice {
            category: "kernel",
            name: if stream == STREAMS[0] {
                "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"
            } else {
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            },
            process: 0,
            thread: stream,
            begin: starts,
            nanos,
        };
        let facts = format!(
            "{correlation}, \"stream\": {stream}, \"device\": 0, \"context\": 1, \"queued\": 0,\n      \
             \"registers per thread\": 128, \"shared memory\": 49152, \"grid\": [128, 16, 1], \
             \"block\": [256, 1, 1],\n      \"blocks per SM\": 9.7, \"warps per SM\": 77.6, \
             \"est. achieved occupancy %\": 50"
        );
        self.slice(&kernel, &facts)?;
        self.flow("s", launch, (HOST, HOST), launched)?;
        self.flow("f", launch, (0, stream), starts)?;
        if stream == STREAMS[0] {
            self.idle_from = starts + nanos;
        }
        self.now = begin + call + 6_000;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        write!(self.file, "\n  ]\n}}\n")?;
        Ok(self.file.flush()?)
    }
}

/// Nanoseconds as microseconds with three decimals, as profilers write them.
fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1_000, nanos % 1_000)
}
