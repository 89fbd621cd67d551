//! The table `statistic.csv` of a dump: statistics of tensors without their elements.

use std::collections::HashSet;
use std::hash::Hash;
use std::io;
use std::sync::Arc;

use serde::Deserialize;

use super::{BadTable, DumpedName, dtype_of};
use crate::statistics::{Role, TensorSummary};
use crate::tensor::{DType, FiniteStats, TensorStats, len_of};
use crate::values::OpaqueTensor;

/// A row of `statistic.csv`. A table may have millions.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticRow {
    /// Name of the tensor.
    pub name: DumpedName,
    /// Statistics for which the table has columns (see [`statistics`]); for unsupported element types the shape alone.
    pub figures: Result<RowFigures, OpaqueTensor>,
}

/// Figures of a row of `statistic.csv`: a third of the size of their summary.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFigures {
    dtype: DType,
    shape: Arc<[u64]>,
    count: u64,
    nan: u64,
    pos_inf: u64,
    neg_inf: u64,
    zero: u64,
    negative: u64,
    positive: u64,
    min: f64,
    max: f64,
    mean: f64,
    l2: f64,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "Op Type")]
    op_type: &'a str,
    #[serde(rename = "Op Name")]
    op_name: &'a str,
    #[serde(rename = "Task ID", default)]
    task: Option<u64>,
    #[serde(rename = "Stream ID", default)]
    stream: Option<u64>,
    #[serde(rename = "Timestamp", default)]
    time: Option<u64>,
    #[serde(rename = "IO")]
    direction: &'a str,
    #[serde(rename = "Slot")]
    slot: u32,
    #[serde(rename = "Data Type")]
    dtype: &'a str,
    #[serde(rename = "Shape")]
    shape: &'a str,
    #[serde(rename = "Max Value", default)]
    max: Option<&'a str>,
    #[serde(rename = "Min Value", default)]
    min: Option<&'a str>,
    #[serde(rename = "Avg Value", default)]
    mean: Option<&'a str>,
    #[serde(rename = "L2Norm Value", default)]
    l2: Option<&'a str>,
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

/// Reads the rows of a `statistic.csv`, one at a time.
///
/// Figures without a column are NaN. Counts without a column are the minimum consistent with the figures: one NaN if
/// the maximum or minimum is NaN, one infinity if it is infinite. The columns *negative zero* and *positive zero*
/// count elements below and above zero.
pub fn statistics(
    table: impl io::Read,
    mut each: impl FnMut(StatisticRow),
) -> Result<(), BadTable> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(table);
    let columns = reader.headers()?.clone();
    let mut record = csv::StringRecord::new();
    let mut known = SharedValues::default();
    while reader.read_record(&mut record)? {
        let row: Row<'_> = record.deserialize(Some(&columns))?;
        each(row.into_statistics(&mut known));
    }
    Ok(())
}

/// Values that many rows share. Rows of one operator follow one another.
#[derive(Default)]
struct SharedValues {
    types: HashSet<Arc<str>>,
    shapes: HashSet<Arc<[u64]>>,
    last_name: Arc<str>,
}

/// The known value that equals this one.
fn shared<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>>, value: &T) -> Arc<T>
where
    Arc<T>: for<'a> From<&'a T>,
{
    if let Some(shared) = known.get(value) {
        return Arc::clone(shared);
    }
    let new: Arc<T> = value.into();
    known.insert(Arc::clone(&new));
    new
}

impl Row<'_> {
    fn into_statistics(self, known: &mut SharedValues) -> StatisticRow {
        let shape: Vec<u64> = self
            .shape
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|size| size.parse().ok())
            .collect();
        let dtype = dtype_of(self.dtype);
        let figures = match dtype {
            Some(dtype) => Ok(self.figures(dtype, shared(&mut known.shapes, &shape))),
            None => Err(OpaqueTensor {
                dtype: self.dtype.to_owned(),
                shape,
            }),
        };
        if *known.last_name != *self.op_name {
            known.last_name = self.op_name.into();
        }
        StatisticRow {
            name: DumpedName {
                op_type: shared(&mut known.types, self.op_type),
                op_name: Arc::clone(&known.last_name),
                task: self.task.unwrap_or(0),
                stream: self.stream.unwrap_or(0),
                time_micros: self.time.unwrap_or(0),
                is_input: self.direction.eq_ignore_ascii_case("input"),
                slot: self.slot,
                dtype,
            },
            figures,
        }
    }

    fn figures(&self, dtype: DType, shape: Arc<[u64]>) -> RowFigures {
        let number = |text: Option<&str>| -> f64 {
            match text.unwrap_or_default() {
                "true" | "True" => 1.0,
                "false" | "False" => 0.0,
                text => text.parse().unwrap_or(f64::NAN),
            }
        };
        let [max, min, mean, l2] = [self.max, self.min, self.mean, self.l2].map(number);
        let is_nan =
            |text: Option<&str>| text.is_some_and(|text| !text.is_empty()) && number(text).is_nan();
        let count = self.count.or_else(|| len_of(&shape)).unwrap_or(0);
        let some = |holds: bool| u64::from(holds && count > 0);
        let is_any = |value: f64| some([max, min].contains(&value));
        let nan = self
            .nan
            .unwrap_or_else(|| some([self.max, self.min, self.l2].into_iter().any(is_nan)));
        let pos_inf = self.pos_inf.unwrap_or_else(|| is_any(f64::INFINITY));
        let neg_inf = self.neg_inf.unwrap_or_else(|| is_any(f64::NEG_INFINITY));
        let finite = finite(count, [nan, pos_inf, neg_inf]);
        let all_if = |holds: bool| if holds { finite } else { 0 };
        let zero = self.zero.unwrap_or(all_if(max == 0.0 && min == 0.0));
        let negative = self.negative.unwrap_or(all_if(max < 0.0));
        let rest = finite.saturating_sub(zero).saturating_sub(negative);
        RowFigures {
            dtype,
            shape,
            count,
            nan,
            pos_inf,
            neg_inf,
            zero,
            negative,
            positive: self.positive.unwrap_or(rest),
            min,
            max,
            mean,
            l2,
        }
    }
}

/// Number of finite elements.
fn finite(count: u64, others: [u64; 3]) -> u64 {
    others.into_iter().fold(count, u64::saturating_sub)
}

impl RowFigures {
    /// The same as a summary.
    pub fn summary(&self) -> TensorSummary {
        let &Self {
            min,
            max,
            mean,
            l2,
            count,
            ..
        } = self;
        let finite = finite(count, [self.nan, self.pos_inf, self.neg_inf]);
        let has_finite = finite > 0 && (max.is_finite() || min.is_finite());
        TensorSummary {
            role: Role::Other,
            dtype: self.dtype,
            shape: self.shape.to_vec(),
            stats: TensorStats {
                count,
                nan: self.nan,
                pos_inf: self.pos_inf,
                neg_inf: self.neg_inf,
                zero: self.zero,
                negative: self.negative,
                positive: self.positive,
                finite: has_finite.then_some(FiniteStats {
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
                }),
                ..TensorStats::default()
            },
            hash: None,
            change: None,
            channels: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadTable, StatisticRow};
    use crate::tensor::DType;

    fn statistics(table: &[u8]) -> Result<Vec<StatisticRow>, BadTable> {
        let mut rows = Vec::new();
        super::statistics(table, |row| rows.push(row))?;
        Ok(rows)
    }

    #[test]
    fn statistics_with_all_columns() {
        let table = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,\
            Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,Zero Count\n\
            ReLU,ReLU-op1,0,0,17,output,0,24,float32,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n\
            ReLU,ReLU-op1,0,0,17,output,1,24,Weird,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n";
        let rows = statistics(table.as_bytes()).unwrap();
        assert_eq!(rows.len(), 2);
        let weird = rows[1].figures.as_ref().unwrap_err();
        assert_eq!((&*weird.dtype, &*weird.shape), ("Weird", &[2, 3][..]));
        let (name, summary) = (&rows[0].name, rows[0].figures.as_ref().unwrap().summary());
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
        let stats = |row: &StatisticRow| row.figures.as_ref().unwrap().summary().stats;
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
    fn counts_that_no_tensor_has() {
        let most = u64::MAX;
        let table = format!(
            "Op Type,Op Name,IO,Slot,Data Type,Shape,Max Value,Min Value,Count,NaN Count,Positive Inf Count,Zero Count,\
             Negative Zero Count\nAdd,a,output,0,Float32,(4),1,0,{most},{most},{most},{most},{most}\n"
        );
        let rows = statistics(table.as_bytes()).unwrap();
        let stats = rows[0].figures.as_ref().unwrap().summary().stats;
        assert_eq!((stats.nan, stats.positive, stats.finite), (most, 0, None));
    }

    #[test]
    fn rows_share_what_they_have_in_common() {
        let table = "Op Type,Op Name,IO,Slot,Data Type,Shape\n\
            Add,a,input,0,Float32,\"(4,2)\"\nAdd,a,output,0,Float32,\"(4,2)\"\nAdd,b,output,0,Float32,\"(4,2)\"\n";
        let rows = statistics(table.as_bytes()).unwrap();
        let [first, second, third] = &rows[..] else {
            panic!("{rows:?}")
        };
        let shape = |row: &StatisticRow| row.figures.as_ref().unwrap().shape.as_ptr();
        assert!(std::sync::Arc::ptr_eq(
            &first.name.op_name,
            &second.name.op_name
        ));
        assert!(std::sync::Arc::ptr_eq(
            &first.name.op_type,
            &third.name.op_type
        ));
        assert_eq!(shape(first), shape(third));
        assert_eq!(&*third.name.op_name, "b");
    }
}
