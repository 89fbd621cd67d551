//! Facts of operators: full names, units, shapes of inputs and FLOPs.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::super::super::trace_builder::TraceBuilder;
use super::super::table::Table;
use super::super::{MindsporeFiles, MindsporeTable};
use super::{AI_CORE, HCCL, communicates, unit_of};
use crate::trace::{NONE, Shapes, Trace};

/// Operators by their full names.
#[derive(Default)]
pub(super) struct Facts {
    operators: HashMap<String, Fact>,
    /// Full name by its last part; `None` if several operators share it.
    full: HashMap<String, Option<String>>,
    numbers: HashMap<Shapes, u32>,
}

#[derive(Default)]
struct Fact {
    unit: Option<String>,
    shapes: Shapes,
    /// Number of `shapes` in the trace, once they are added.
    number: Option<u32>,
}

/// An input or output of an operator.
#[derive(Deserialize)]
struct Port {
    #[serde(default)]
    data_type: Value,
    #[serde(default)]
    shape: Value,
}

impl Facts {
    pub(super) fn read(
        files: &MindsporeFiles<'_>,
        builder: &mut TraceBuilder,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut facts = Self::default();
        if let Some(bytes) = files.framework_raw {
            let file = MindsporeTable::FrameworkRaw.file_name(files.rank);
            facts.framework(Table::new(&file, bytes), builder, notes);
        }
        if let Some(bytes) = files.flops {
            let file = MindsporeTable::Flops.file_name(files.rank);
            facts.flops(Table::open_ended(&file, bytes), builder, notes);
        }
        facts
    }

    /// Reads `framework_raw`: a row an operator and task. Of several rows of an operator the first counts.
    fn framework(
        &mut self,
        mut table: Table<'_>,
        builder: &mut TraceBuilder,
        notes: &mut Vec<String>,
    ) {
        let name = table.column(&["full_kernel_name", "full_op_name"]);
        // MindSpore 2 writes the unit where older versions write the type.
        let unit = table
            .column(&["op_type"])
            .and_then(|_| table.column(&["task_type", "kernel_type"]));
        let info = table.column(&["op_info"]);
        if name.is_none() {
            return table.lacks("full_kernel_name", notes);
        }
        while let Some(row) = table.next_row() {
            let full = row.text(name);
            let text = row.text(info);
            let shapes = match &*text {
                "" => Some(Shapes::default()),
                text => inputs(text),
            };
            if full.is_empty() || shapes.is_none() {
                table.bad(&row);
            }
            if full.is_empty() || self.operators.contains_key(&*full) {
                continue;
            }
            let fact = self.operator(&full);
            fact.shapes = shapes.unwrap_or_default();
            fact.unit = unit_of(&row.text(unit)).map(str::to_owned);
        }
        table.finish(&mut builder.trace.counts, notes);
    }

    /// Reads `flops`: FLOPs of one execution, in the columns of each unit.
    fn flops(&mut self, mut table: Table<'_>, builder: &mut TraceBuilder, notes: &mut Vec<String>) {
        let name = table.column(&["full_kernel_name", "op_full_name", "full_op_name"]);
        // `FLOPS` are per second.
        let columns = table.fields().filter_map(|(index, field)| {
            let decimals = match field.split('(').next()?.trim() {
                "MFLOPs" => 6,
                "FLOPs" => 0,
                _ => return None,
            };
            Some((index, decimals))
        });
        let columns: Vec<(usize, usize)> = columns.collect();
        if name.is_none() || columns.is_empty() {
            return table.lacks("full_kernel_name, FLOPs", notes);
        }
        while let Some(row) = table.next_row() {
            let full = row.text(name);
            let values = columns
                .iter()
                .map(|(index, decimals)| row.scaled(Some(*index), *decimals)?.try_into().ok());
            let sum: Option<Vec<u64>> = values.collect();
            let (Some(sum), false) = (sum, full.is_empty()) else {
                table.bad(&row);
                continue;
            };
            self.operator(&full).shapes.flops = sum.into_iter().fold(0, u64::saturating_add);
        }
        table.finish(&mut builder.trace.counts, notes);
    }

    fn operator(&mut self, full: &str) -> &mut Fact {
        if !self.operators.contains_key(full) {
            let short = full.rsplit('/').next().unwrap_or(full).to_owned();
            let known = self.full.entry(short);
            known
                .and_modify(|other| *other = None)
                .or_insert_with(|| Some(full.to_owned()));
        }
        self.operators.entry(full.to_owned()).or_default()
    }

    /// Full name of an operator, given in full or by its last part.
    pub(super) fn full_name(&self, name: &str) -> String {
        let known = self.full.get(name).cloned().flatten();
        known.unwrap_or_else(|| name.to_owned())
    }

    /// Unit that runs an operator.
    pub(super) fn unit(&self, name: &str) -> String {
        let known = self
            .operators
            .get(name)
            .and_then(|operator| operator.unit.clone());
        known.unwrap_or_else(|| {
            let unit = if communicates(name) { HCCL } else { AI_CORE };
            unit.to_owned()
        })
    }

    /// Number of the shapes and FLOPs of an operator in the trace.
    pub(super) fn detail(&mut self, name: &str, trace: &mut Trace) -> u32 {
        let Some(fact) = self.operators.get_mut(name) else {
            return NONE;
        };
        if fact.shapes == Shapes::default() {
            return NONE;
        }
        *fact.number.get_or_insert_with(|| {
            let next = u32::try_from(trace.shapes.len()).unwrap_or(NONE);
            *(self.numbers.entry(fact.shapes.clone())).or_insert_with_key(|shapes| {
                trace.shapes.push(shapes.clone());
                next
            })
        })
    }
}

/// Shapes and types of the inputs in `{"input_0": {"format": "NC1HWC0", "data_type": "FLOAT16", "shape": [32, 1]}, …}`.
/// Versions differ in capitals, and write shapes as lists or as text.
fn inputs(text: &str) -> Option<Shapes> {
    let ports: BTreeMap<String, Port> = serde_json::from_str(text).ok()?;
    let mut inputs: Vec<(u32, Port)> = Vec::new();
    for (name, port) in ports {
        let lower = name.to_ascii_lowercase();
        if let Some(number) = lower.strip_prefix("input_") {
            inputs.push((number.parse().ok()?, port));
        }
    }
    if inputs.is_empty() {
        return Some(Shapes::default());
    }
    inputs.sort_by_key(|(number, _)| *number);
    let dims = inputs.iter().map(|(_, port)| dims(&port.shape));
    let types = inputs.iter().map(|(_, port)| {
        let name = port.data_type.as_str().unwrap_or_default();
        format!("\"{}\"", name.trim_start_matches("NUMBER_TYPE_"))
    });
    Some(Shapes {
        dims: format!("[{}]", dims.collect::<Vec<_>>().join(", ")),
        types: format!("[{}]", types.collect::<Vec<_>>().join(", ")),
        ..Shapes::default()
    })
}

fn dims(shape: &Value) -> String {
    let sizes: Vec<i64> = match shape {
        Value::Array(sizes) => sizes.iter().filter_map(Value::as_i64).collect(),
        Value::String(text) => text
            .split(',')
            .filter_map(|size| size.trim().parse().ok())
            .collect(),
        other => other.as_i64().into_iter().collect(),
    };
    format!("{sizes:?}")
}
