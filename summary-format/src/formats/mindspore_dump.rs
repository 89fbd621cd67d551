//! `MindSpore` dump folders: names of tensor files, and the tables next to them.
//!
//! A tensor is `<type>.<name>.<task>.<stream>.<time>.<input|output>.<slot>.<format>[.<dtype>].npy`; depending on the
//! version, the name is the last part of the operator's full name, or all of it with `_` for `/`. Names may contain
//! dots, so they are parsed from their end. Tensor files themselves are [`super::npy`].

use serde::Deserialize;

use crate::statistics::{Role, TensorSummary};
use crate::tensor::{DType, FiniteStats, TensorStats};
use crate::values::OpaqueTensor;

/// Converter for dumps of Ascend devices that were not written as npy.
pub const CONVERTER: &str = "msaccucmp.py of the CANN toolkit";

/// Parsed file name of a dumped tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedName {
    /// Type of the operator in the framework, `Conv2D`; `Parameter` for parameters and input data.
    pub op_type: String,
    /// Name of the operator: its last part, or all of it with `_` for `/`.
    pub op_name: String,
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
            op_type: op_type.to_owned(),
            op_name: parts.join("."),
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

/// A row of `statistic.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticRow {
    /// Name of the tensor.
    pub name: DumpedName,
    /// Statistics for which the table has columns (see [`statistics`]); for unsupported element types the shape alone.
    pub summary: Result<Box<TensorSummary>, OpaqueTensor>,
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

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "Op Type")]
    op_type: String,
    #[serde(rename = "Op Name")]
    op_name: String,
    #[serde(rename = "Task ID", default)]
    task: Option<u64>,
    #[serde(rename = "Stream ID", default)]
    stream: Option<u64>,
    #[serde(rename = "Timestamp", default)]
    time: Option<u64>,
    #[serde(rename = "IO")]
    direction: String,
    #[serde(rename = "Slot")]
    slot: u32,
    #[serde(rename = "Data Type")]
    dtype: String,
    #[serde(rename = "Shape")]
    shape: String,
    #[serde(rename = "Max Value", default)]
    max: Option<String>,
    #[serde(rename = "Min Value", default)]
    min: Option<String>,
    #[serde(rename = "Avg Value", default)]
    mean: Option<String>,
    #[serde(rename = "L2Norm Value", default)]
    l2: Option<String>,
    #[serde(rename = "Count", default)]
    count: Option<u64>,
    #[serde(rename = "Negative Zero Count", default)]
    negative: Option<u64>,
    #[serde(rename = "Positive Zero Count", default)]
    positive: Option<u64>,
    #[serde(rename = "NaN Count", default)]
    nan: Option<u64>,
    #[serde(rename = "Negative Inf Count", default)]
    neg_inf: Option<u64>,
    #[serde(rename = "Positive Inf Count", default)]
    pos_inf: Option<u64>,
    #[serde(rename = "Zero Count", default)]
    zero: Option<u64>,
}

/// The rows of a `statistic.csv`.
///
/// Figures without a column are NaN. Counts without a column are the minimum consistent with the figures: one NaN if
/// the maximum or minimum is NaN, one infinity if it is infinite. The columns *negative zero* and *positive zero*
/// count elements below and above zero.
pub fn statistics(table: &[u8]) -> Result<Vec<StatisticRow>, BadTable> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(table);
    let mut rows = Vec::new();
    for row in reader.deserialize() {
        let row: Row = row?;
        rows.push(row.into_statistics());
    }
    Ok(rows)
}

impl Row {
    fn into_statistics(self) -> StatisticRow {
        let shape: Vec<u64> = self
            .shape
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|size| size.parse().ok())
            .collect();
        let dtype = dtype_of(&self.dtype);
        let summary = match dtype {
            Some(dtype) => Ok(Box::new(self.summary(dtype, shape))),
            None => Err(OpaqueTensor {
                dtype: self.dtype,
                shape,
            }),
        };
        StatisticRow {
            name: DumpedName {
                op_type: self.op_type,
                op_name: self.op_name,
                task: self.task.unwrap_or(0),
                stream: self.stream.unwrap_or(0),
                time_micros: self.time.unwrap_or(0),
                is_input: self.direction.eq_ignore_ascii_case("input"),
                slot: self.slot,
                dtype,
            },
            summary,
        }
    }

    fn summary(&self, dtype: DType, shape: Vec<u64>) -> TensorSummary {
        let number = |text: &Option<String>| -> f64 {
            let text = text.as_deref().map(str::trim).unwrap_or_default();
            match text {
                "true" | "True" => 1.0,
                "false" | "False" => 0.0,
                _ => text.parse().unwrap_or(f64::NAN),
            }
        };
        let was_written = |text: &Option<String>| text.as_ref().is_some_and(|t| !t.is_empty());
        let (max, min, l2) = (number(&self.max), number(&self.min), number(&self.l2));
        let count = self
            .count
            .or_else(|| crate::tensor::len_of(&shape))
            .unwrap_or(0);
        let is_nan = |text: &Option<String>, value: f64| was_written(text) && value.is_nan();
        let some = |holds: bool| u64::from(holds && count > 0);
        let mut stats = TensorStats {
            count,
            nan: self.nan.unwrap_or_else(|| {
                some(is_nan(&self.max, max) || is_nan(&self.min, min) || is_nan(&self.l2, l2))
            }),
            pos_inf: self
                .pos_inf
                .unwrap_or_else(|| some(max == f64::INFINITY || min == f64::INFINITY)),
            neg_inf: self
                .neg_inf
                .unwrap_or_else(|| some(max == f64::NEG_INFINITY || min == f64::NEG_INFINITY)),
            ..TensorStats::default()
        };
        let finite = count.saturating_sub(stats.nan + stats.pos_inf + stats.neg_inf);
        let is_all_zero = max == 0.0 && min == 0.0;
        stats.zero = self.zero.unwrap_or(if is_all_zero { finite } else { 0 });
        stats.negative = self.negative.unwrap_or(if max < 0.0 { finite } else { 0 });
        let rest = finite.saturating_sub(stats.zero + stats.negative);
        stats.positive = self.positive.unwrap_or(rest);
        if finite > 0 && (max.is_finite() || min.is_finite()) {
            let mean = number(&self.mean);
            stats.finite = Some(FiniteStats {
                min,
                max,
                mean,
                m2: f64::NAN,
                mean_abs: if min >= 0.0 {
                    mean
                } else if max <= 0.0 {
                    -mean
                } else {
                    f64::NAN
                },
                l2: if finite == count { l2 } else { f64::NAN },
            });
        }
        TensorSummary {
            role: Role::Other,
            dtype,
            shape,
            stats,
            hash: None,
            change: None,
            channels: None,
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
    use super::{DumpedFile, DumpedName, execution_order, mapping, overflows, statistics};
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
                op_type: "Parameter".to_owned(),
                op_name: "stat.fc2.bias".to_owned(),
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
            new.op_name,
            "Default_network-WithLossCell_conv1-Conv2d_BiasAdd-op0"
        );
        assert_eq!((new.task, new.stream, new.slot), (3, 1, 12));
        assert!(new.is_input);
        assert_eq!(new.dtype, Some(DType::Bf16));
        // A name that contains `output` itself.
        let odd = name("Parameter.output.weight.0.0.1.output.0.DefaultFormat.npy");
        assert_eq!(odd.op_name, "output.weight");
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
    fn statistics_with_all_columns() {
        let table = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,\
            Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,Zero Count\n\
            ReLU,ReLU-op1,0,0,17,output,0,24,float32,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n\
            ReLU,ReLU-op1,0,0,17,output,1,24,Weird,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n";
        let rows = statistics(table.as_bytes()).unwrap();
        assert_eq!(rows.len(), 2);
        let weird = rows[1].summary.as_ref().unwrap_err();
        assert_eq!((&*weird.dtype, &*weird.shape), ("Weird", &[2, 3][..]));
        let (name, summary) = (&rows[0].name, rows[0].summary.as_ref().unwrap());
        assert_eq!(
            (&*name.op_name, name.slot, name.time_micros),
            ("ReLU-op1", 0, 17)
        );
        assert_eq!(
            (summary.dtype, &*summary.shape),
            (DType::F32, &[2_u64, 3][..])
        );
        let stats = &summary.stats;
        assert_eq!((stats.nan, stats.pos_inf, stats.zero), (1, 1, 1));
        assert_eq!((stats.negative, stats.positive), (1, 2));
        let finite = stats.finite.unwrap();
        assert_eq!((finite.min, finite.max, finite.mean), (-1.0, 2.5, 0.5));
        assert!(finite.mean_abs.is_nan() && finite.l2.is_nan());
    }

    #[test]
    fn statistics_with_few_columns_say_what_they_can() {
        let table = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value\n\
            Add,a,0,0,1,output,0,16,Float32,\"(4)\",0,0,0\n\
            Add,b,0,0,1,output,0,16,Float32,\"(4)\",inf,1,inf\n\
            Add,c,0,0,1,output,0,16,Float32,\"(4)\",nan,nan,nan\n\
            Add,d,0,0,1,input,0,4,Float32,\"()\",3,3,3\n";
        let rows = statistics(table.as_bytes()).unwrap();
        let stats = |row: &super::StatisticRow| row.summary.as_ref().unwrap().stats.clone();
        let [zero, inf, nan, single] = &rows[..] else {
            panic!("{rows:?}")
        };
        let [zero, inf, nan, single] = [zero, inf, nan, single].map(stats);
        assert_eq!(zero.zero, 4);
        assert_eq!(inf.pos_inf, 1);
        assert_eq!((nan.nan, nan.finite), (1, None));
        assert_eq!(single.count, 1);
        assert_eq!(single.finite.map(|finite| finite.l2), Some(3.0));
    }

    #[test]
    fn what_is_no_table_says_where() {
        let error = statistics(b"Op Type,Op Name\nAdd,a\n").unwrap_err();
        assert_eq!(error.offset, 16);
        assert_eq!(statistics(b"").unwrap(), []);
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
