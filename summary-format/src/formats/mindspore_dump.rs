//! `MindSpore` dump folders: names of tensor files, and the tables next to them.
//!
//! A tensor is `<type>.<name>.<task>.<stream>.<time>.<input|output>.<slot>.<format>[.<dtype>].npy`; depending on the
//! version, the name is the last part of the operator's full name, or all of it with `_` for `/`. Names may contain
//! dots, so they are parsed from their end. Tensor files themselves are [`super::npy`].

mod statistics;

use std::sync::Arc;

use serde::Deserialize;

use crate::tensor::DType;

pub use statistics::{RowFigures, StatisticRow, statistics};

/// Converter for dumps of Ascend devices that were not written as npy.
pub const CONVERTER: &str = "msaccucmp.py of the CANN toolkit";

/// Parsed file name of a dumped tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedName {
    /// Type of the operator in the framework, `Conv2D`; `Parameter` for parameters and input data.
    pub op_type: Arc<str>,
    /// Name of the operator: its last part, or all of it with `_` for `/`.
    pub op_name: Arc<str>,
    /// The device's number of the task.
    pub task: u64,
    /// The device's number of the stream.
    pub stream: u64,
    /// Time of writing, in microseconds since an arbitrary time in the past.
    pub time_micros: u64,
    /// `true` for an input of the operator, `false` for an output.
    pub is_input: bool,
    /// Index of the input or output.
    pub slot: u32,
    /// Element type, if the name has it: npy headers cannot represent every type.
    pub dtype: Option<DType>,
}

/// Role of a file in the folder of an iteration, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpedFile {
    /// A tensor as npy.
    Tensor(DumpedName),
    /// Statistics of tensors.
    Statistics,
    /// Names that were too long for files.
    Mapping,
    /// Overflows reported by the device, as JSON.
    Overflow,
    /// Overflows in the format of the device, which has to be converted.
    RawOverflow,
    /// Inputs and outputs of an operator in the format of the device, which has to be converted.
    Raw,
    /// A tensor whose name was too long: the mapping table has it.
    Hashed,
    /// Any other file.
    Other,
}

impl DumpedFile {
    /// Role of a file by its name without folders.
    pub fn of(file_name: &str) -> Self {
        if file_name.starts_with("Opdebug.Node_OpDebug.") {
            let extension = file_name.rsplit_once('.').map(|(_, extension)| extension);
            return if extension == Some("json") {
                Self::Overflow
            } else {
                Self::RawOverflow
            };
        }
        if let Some(stem) = file_name.strip_suffix(".npy") {
            return match DumpedName::of_stem(stem) {
                Some(name) => Self::Tensor(name),
                None => Self::Hashed,
            };
        }
        match file_name {
            "statistic.csv" => Self::Statistics,
            "mapping.csv" => Self::Mapping,
            _ => {
                // `<type>.<name>.<task>.<stream>.<time>`
                let mut parts = file_name.rsplit('.');
                let numbers = parts
                    .by_ref()
                    .take(3)
                    .filter(|part| is_number(part))
                    .count();
                if numbers == 3 && parts.count() >= 2 {
                    Self::Raw
                } else {
                    Self::Other
                }
            }
        }
    }
}

impl DumpedName {
    /// Parses a file name without `.npy`, or the original name from [`mapping`].
    pub fn of_stem(stem: &str) -> Option<Self> {
        let stem = stem.strip_suffix(".npy").unwrap_or(stem);
        let (op_type, rest) = stem.split_once('.')?;
        let mut parts: Vec<&str> = rest.split('.').collect();
        // The last direction followed by a number.
        let at = parts.iter().enumerate().rposition(|(at, part)| {
            matches!(*part, "input" | "output") && parts.get(at + 1).is_some_and(|p| is_number(p))
        })?;
        let after = parts.split_off(at);
        let [direction, slot, more @ ..] = &after[..] else {
            return None;
        };
        let numbers = parts.split_off(parts.len().checked_sub(3)?);
        let [task, stream, time] = &numbers[..] else {
            return None;
        };
        if parts.is_empty() {
            return None;
        }
        Some(Self {
            op_type: op_type.into(),
            op_name: parts.join(".").into(),
            task: task.parse().ok()?,
            stream: stream.parse().ok()?,
            time_micros: time.parse().ok()?,
            is_input: *direction == "input",
            slot: slot.parse().ok()?,
            dtype: more.get(1).and_then(|name| dtype_of(name)),
        })
    }
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

/// Element type by its name in the framework: `Float32`, `float32`, `kNumberTypeFloat32`, `DT_FLOAT`.
fn dtype_of(name: &str) -> Option<DType> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("knumbertype").unwrap_or(&name);
    Some(match name.strip_prefix("dt_").unwrap_or(name) {
        "bool" => DType::Bool,
        "uint8" => DType::U8,
        "uint16" => DType::U16,
        "uint32" => DType::U32,
        "uint64" => DType::U64,
        "int8" => DType::I8,
        "int16" => DType::I16,
        "int32" | "int" => DType::I32,
        "int64" => DType::I64,
        "float16" | "half" => DType::F16,
        "bfloat16" | "bf16" => DType::Bf16,
        "float8e4m3fn" | "float8_e4m3fn" => DType::F8E4m3,
        "float8e5m2" | "float8_e5m2" => DType::F8E5m2,
        "float32" | "float" => DType::F32,
        "float64" | "double" => DType::F64,
        _ => return None,
    })
}

/// Error in a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadTable {
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Description, as a sentence.
    pub reason: String,
}

impl From<csv::Error> for BadTable {
    fn from(error: csv::Error) -> Self {
        let offset = error.position().map_or(0, csv::Position::byte);
        Self {
            offset,
            reason: format!("its rows are malformed: {error}"),
        }
    }
}

/// The rows of a `mapping.csv`: the name of a file without `.npy`, and its original name.
pub fn mapping(table: &[u8]) -> Result<Vec<(String, String)>, BadTable> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(table);
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row?;
        if let (Some(short), Some(long)) = (row.get(0), row.get(1)) {
            let short = short.strip_suffix(".npy").unwrap_or(short);
            rows.push((short.to_owned(), long.to_owned()));
        }
    }
    Ok(rows)
}

/// The operators of a graph in execution order: `ms_execution_order_graph_<n>.csv`, full names.
pub fn execution_order(table: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(table);
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("NodeExecutionOrder"))
        .map(str::to_owned)
        .collect()
}

/// Task and stream of the operators that overflowed: an `Opdebug…json`. The converter writes an object for each unit
/// of the device; those without a status detected nothing.
pub fn overflows(json: &[u8]) -> Result<Vec<(u64, u64)>, BadTable> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Unit(Unit),
        List(Vec<Value>),
        Object(std::collections::BTreeMap<String, Value>),
        Other(serde::de::IgnoredAny),
    }
    #[derive(Deserialize)]
    struct Unit {
        task_id: u64,
        stream_id: u64,
        status: Option<u64>,
    }
    fn collect(value: Value, found: &mut Vec<(u64, u64)>) {
        match value {
            Value::Unit(unit) if unit.status != Some(0) => {
                found.push((unit.task_id, unit.stream_id));
            }
            Value::List(values) => values.into_iter().for_each(|value| collect(value, found)),
            Value::Object(values) => values.into_values().for_each(|value| collect(value, found)),
            Value::Unit(_) | Value::Other(serde::de::IgnoredAny) => {}
        }
    }
    let value = serde_json::from_slice(json).map_err(|error| BadTable {
        offset: 0,
        reason: format!("it is not JSON of overflows: {error}"),
    })?;
    let mut found = Vec::new();
    collect(value, &mut found);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{DumpedFile, DumpedName, execution_order, mapping, overflows};
    use crate::tensor::DType;

    #[test]
    fn names_of_both_generations() {
        let name = |file: &str| match DumpedFile::of(file) {
            DumpedFile::Tensor(name) => name,
            other => panic!("{other:?}"),
        };
        let old = name("Parameter.stat.fc2.bias.0.0.1795213020734393.output.0.DefaultFormat.npy");
        assert_eq!(
            old,
            DumpedName {
                op_type: "Parameter".into(),
                op_name: "stat.fc2.bias".into(),
                task: 0,
                stream: 0,
                time_micros: 1_795_213_020_734_393,
                is_input: false,
                slot: 0,
                dtype: None,
            }
        );
        let new = name(
            "BiasAdd.Default_network-WithLossCell_conv1-Conv2d_BiasAdd-op0.3.1.17.input.12.NCHW.BFloat16.npy",
        );
        assert_eq!(
            &*new.op_name,
            "Default_network-WithLossCell_conv1-Conv2d_BiasAdd-op0"
        );
        assert_eq!((new.task, new.stream, new.slot), (3, 1, 12));
        assert!(new.is_input);
        assert_eq!(new.dtype, Some(DType::Bf16));
        // A name that contains `output` itself.
        let odd = name("Parameter.output.weight.0.0.1.output.0.DefaultFormat.npy");
        assert_eq!(&*odd.op_name, "output.weight");
    }

    #[test]
    fn files_that_are_no_tensors() {
        for (file, what) in [
            ("statistic.csv", DumpedFile::Statistics),
            ("mapping.csv", DumpedFile::Mapping),
            ("Conv2D.Default_conv1_Conv2D-op1.2.3.1700", DumpedFile::Raw),
            ("Opdebug.Node_OpDebug.1.2.1700", DumpedFile::RawOverflow),
            (
                "Opdebug.Node_OpDebug.1.2.1700.output.0.json",
                DumpedFile::Overflow,
            ),
            ("1234567890123.npy", DumpedFile::Hashed),
            ("x.npy", DumpedFile::Hashed),
            (".output.0.npy", DumpedFile::Hashed),
            ("README.md", DumpedFile::Other),
            ("1.2.3", DumpedFile::Other),
            ("", DumpedFile::Other),
        ] {
            assert_eq!(DumpedFile::of(file), what, "{file}");
        }
    }

    #[test]
    fn small_tables() {
        assert_eq!(
            mapping(b"12.npy,Add.x.0.0.1.output.0.DefaultFormat.npy\nodd\n").unwrap(),
            [(
                "12".to_owned(),
                "Add.x.0.0.1.output.0.DefaultFormat.npy".to_owned()
            )]
        );
        assert_eq!(
            execution_order(b"NodeExecutionOrder-FullNameWithScope\nDefault/a\n\nDefault/b\n"),
            ["Default/a", "Default/b"]
        );
        let json = br#"{"AI Core": {"stream_id": 5, "task_id": 9, "status": 32, "pc": "0x0"},
            "L2 Atomic Add": {"stream_id": 1, "task_id": 2, "status": 0}, "magic": 1, "list": [3]}"#;
        assert_eq!(overflows(json).unwrap(), [(9, 5)]);
        assert!(overflows(b"[").is_err());
    }
}
