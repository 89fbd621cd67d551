//! Judges a folder of safetensors files, one per step, and event files beside them: the evaluator alone, without the
//! server's readers. `judge check DIR --format json` prints the findings, `judge show DIR` the records.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use trainscope_analysis::watchpoint::{Context, Evaluator, Observation, Watchpoints, channel_axis};
use trainscope_format::tensor::{ChannelStats, DType, Select, Tolerance};
use trainscope_format::{Body, Format, RecordBatch, Role, TensorSummary};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().collect();
    let folder = Path::new(args.get(2).ok_or("judge check|show DIR")?);
    let shows = args[1] == "show";
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    let mut ranks = sorted(folder)?;
    ranks.retain(|path| path.is_dir() && name_of(path).starts_with("rank_"));
    if ranks.is_empty() {
        ranks.push(folder.to_owned());
    }
    for (rank, folder) in (0..).zip(&ranks) {
        scalars(&mut evaluator, rank, &folder.join("tb"), shows)?;
        tensors(&mut evaluator, rank, &folder.join("steps"), shows)?;
    }
    let findings = evaluator.findings();
    let mut out = io::stdout().lock();
    if shows {
        return Ok(ExitCode::SUCCESS);
    }
    let mut answer = serde_json::to_value(&findings)?;
    let first = findings.first_hit().map(serde_json::to_value).transpose()?;
    answer["first_cause"] = first.unwrap_or(Value::Null);
    answer["version"] = json!(1);
    answer["damaged"] = json!([]);
    writeln!(out, "{answer}")?;
    Ok(ExitCode::from(u8::from(!findings.hits.is_empty())))
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn scalars(evaluator: &mut Evaluator, rank: u32, folder: &Path, shows: bool) -> Result<()> {
    for path in sorted(folder)? {
        let mut decoder = Format::Tfevents.decoder(&name_of(&path));
        let mut batch = RecordBatch::default();
        decoder.push(&fs::read(&path)?, &mut batch);
        let columns = &batch.scalars;
        for i in 0..columns.len() {
            let tag = &batch.new_tags[columns.tags[i].0 as usize].name;
            let (step, value) = (columns.steps[i], columns.values[i]);
            evaluator.scalar(rank, tag, step, columns.wall_times_secs[i], value);
            if shows {
                writeln!(io::stdout(), "{rank} {step:4} scalar {tag} {value}")?;
            }
        }
        for record in &batch.records {
            if let Body::Text(text) = &record.body {
                let tag = &batch.new_tags[record.tag.0 as usize].name;
                for text in &text.items {
                    evaluator.context(rank, Context::Text { tag, text });
                    if shows {
                        writeln!(io::stdout(), "{rank} text {tag} {text}")?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn tensors(evaluator: &mut Evaluator, rank: u32, folder: &Path, shows: bool) -> Result<()> {
    let mut before: BTreeMap<String, (DType, Vec<u64>, Vec<u8>)> = BTreeMap::new();
    for path in sorted(folder)? {
        let bytes = fs::read(&path)?;
        let (_, header) = SafeTensors::read_metadata(&bytes)?;
        let of = |key| {
            header
                .metadata()
                .as_ref()
                .and_then(|m: &std::collections::HashMap<String, String>| m.get(key))
        };
        let step: i64 = of("step").ok_or("no step")?.parse()?;
        if let Some(order) = of("execution_order") {
            let names: Vec<&str> = order.split(',').collect();
            evaluator.context(rank, Context::ExecutionOrder(&names));
        }
        let file = SafeTensors::deserialize(&bytes)?;
        let mut names = file.names();
        names.sort_unstable();
        for name in names {
            let tensor = file.tensor(name)?;
            let Some(dtype) = dtype_of(tensor.dtype()) else {
                continue;
            };
            let shape: Vec<u64> = tensor.shape().iter().map(|s| *s as u64).collect();
            let needs = evaluator.needs(name, Role::Other, "");
            let mut select = Select::new();
            if needs.exponents || shows {
                select = select.exponents();
            }
            if needs.hash || shows {
                select = select.hash();
            }
            let old = before
                .get(name)
                .filter(|old| old.0 == dtype && old.1 == shape);
            let tolerance = needs.change.unwrap_or_default();
            if let (Some(old), true) = (old, needs.change.is_some() || shows) {
                select = select.change(&old.2, tolerance);
            }
            let seen = select.read(dtype, tensor.data());
            let axis = channel_axis(&shape).filter(|_| needs.channels);
            let summary = TensorSummary {
                role: Role::Other,
                dtype,
                channels: axis
                    .and_then(|axis| ChannelStats::of(dtype, &shape, tensor.data(), axis)),
                shape: shape.clone(),
                stats: seen.stats,
                hash: seen.hash,
                change: seen.change,
            };
            if shows {
                show(rank, step, name, &summary)?;
            }
            evaluator.observe(&Observation {
                rank,
                step,
                name,
                op: "",
                summary: &summary,
                tolerance: Tolerance::default(),
            });
            before.insert(name.to_owned(), (dtype, shape, tensor.data().to_vec()));
        }
    }
    Ok(())
}

fn show(rank: u32, step: i64, name: &str, summary: &TensorSummary) -> Result<()> {
    let s = &summary.stats;
    let f = s.finite.unwrap_or_default();
    let ratio = summary
        .change
        .and_then(|c| c.mean_change_ratio(1e-9))
        .unwrap_or(f64::NAN);
    writeln!(
        io::stdout(),
        "{rank} {step:4} {name:32} {} {:?} nan {} inf {} zero {:.2} min {:.3e} max {:.3e} mean {:.3e} abs {:.3e} l2 {:.3e} changed {} ratio {ratio:.2e} {:x?}",
        summary.dtype,
        summary.shape,
        s.nan,
        s.pos_inf + s.neg_inf,
        s.zero as f64 / s.count as f64,
        f.min,
        f.max,
        f.mean,
        f.mean_abs,
        f.l2,
        summary.change.map_or(-1.0, |c| c.changed as f64),
        summary.hash.map(|h| h >> 48)
    )?;
    Ok(())
}

fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::U16 => DType::U16,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::Bf16,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::I64 => DType::I64,
        Dtype::U64 => DType::U64,
        _ => return None,
    })
}
