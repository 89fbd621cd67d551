//! The binary answer of `POST /api/scalars`: little-endian columns, a third of the size of the JSON and without
//! parsing.
//!
//! ```text
//! magic      4 bytes   "TSC1"
//! series     u32       number of entries, as many as were requested
//! seq        u64
//! then for each entry
//!   flags    u32       bit 0 present (otherwise nothing follows), 1 cut, 2 steps are an arithmetic sequence,
//!                      3 steps are u32 differences to the one before, 4 values (and min, max) are f32,
//!                      5 has min, 6 has max, 7 has wall times, 8 has live, 9 steps per epoch,
//!                      10 has attempts
//!   n        u32       length of each column
//!   total    u64
//!   live     u64       if bit 8
//!   non_finite u32     number of ranges
//!   ranges             each: class u32 (0 NaN, 1 Infinity, 2 -Infinity), first_step i64, last_step i64, count u64
//!   attempts u32       number, if bit 10
//!   attempts           each: number u64, first_wall_time_secs f64 (NaN: unknown), from i64, to i64, if bit 10
//!   first    i64       first step, if n > 0 and bit 2 or 3
//!   stride   i64       difference of neighbours, if n > 0 and bit 2
//!   steps              bit 3: (n − 1) × u32; neither bit 2 nor 3: n × i64
//!   values, min, max   n × f32 or f64 each, if present
//!   wall_times_secs    n × f64, if present
//! ```
//!
//! NaN stays NaN, but its payload is not preserved.

use super::{Attempt, NonFinite, NonFiniteClass, ScalarsAnswer, Series};

const MAGIC: &[u8; 4] = b"TSC1";
const PRESENT: u32 = 1;
const CUT: u32 = 1 << 1;
const STRIDE: u32 = 1 << 2;
const DELTA: u32 = 1 << 3;
const SINGLE: u32 = 1 << 4;
const MIN: u32 = 1 << 5;
const MAX: u32 = 1 << 6;
const WALL: u32 = 1 << 7;
const LIVE: u32 = 1 << 8;
const PER_EPOCH: u32 = 1 << 9;
const ATTEMPTS: u32 = 1 << 10;

/// Error for bytes of another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnsError;

impl std::fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer is not in the columns layout of this version")
    }
}

impl std::error::Error for ColumnsError {}

/// Writes an answer as columns.
pub fn encode(answer: &ScalarsAnswer) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + answer.series.len() * 64);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(
        &u32::try_from(answer.series.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    );
    out.extend_from_slice(&answer.seq.to_le_bytes());
    for series in &answer.series {
        match series {
            Some(series) => encode_series(series, &mut out),
            None => out.extend_from_slice(&0_u32.to_le_bytes()),
        }
    }
    out
}

/// Encoding of the steps of a series.
enum Steps {
    Stride(i64),
    Delta,
    Plain,
}

fn steps_coding(steps: &[i64]) -> Steps {
    let mut differences = steps.windows(2).map(|w| w[1].checked_sub(w[0]));
    let Some(first) = differences.next() else {
        return Steps::Stride(0);
    };
    if let Some(stride) = first
        && differences.all(|d| d == Some(stride))
    {
        return Steps::Stride(stride);
    }
    let small = |w: &[i64]| {
        w[1].checked_sub(w[0])
            .is_some_and(|d| u32::try_from(d).is_ok())
    };
    if steps.windows(2).all(small) {
        Steps::Delta
    } else {
        Steps::Plain
    }
}

fn fits_single(values: &[f64]) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether it loses anything is the question"
    )]
    values
        .iter()
        .all(|v| v.is_nan() || f64::from(*v as f32).to_bits() == v.to_bits())
}

fn encode_series(series: &Series, out: &mut Vec<u8>) {
    let coding = steps_coding(&series.steps);
    let single =
        fits_single(&series.values) && fits_single(&series.min) && fits_single(&series.max);
    let mut flags = PRESENT;
    for (bit, set) in [
        (CUT, series.cut),
        (STRIDE, matches!(coding, Steps::Stride(_))),
        (DELTA, matches!(coding, Steps::Delta)),
        (SINGLE, single),
        (MIN, !series.min.is_empty()),
        (MAX, !series.max.is_empty()),
        (WALL, !series.wall_times_secs.is_empty()),
        (LIVE, series.live.is_some()),
        (PER_EPOCH, series.per_epoch),
        (ATTEMPTS, !series.attempts.is_empty()),
    ] {
        if set {
            flags |= bit;
        }
    }
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(
        &u32::try_from(series.steps.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    );
    out.extend_from_slice(&series.total.to_le_bytes());
    out.extend(series.live.iter().flat_map(|live| live.to_le_bytes()));
    out.extend_from_slice(
        &u32::try_from(series.non_finite.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    );
    for stretch in &series.non_finite {
        let class: u32 = match stretch.class {
            NonFiniteClass::Nan => 0,
            NonFiniteClass::PosInf => 1,
            NonFiniteClass::NegInf => 2,
        };
        out.extend_from_slice(&class.to_le_bytes());
        out.extend_from_slice(&stretch.first_step.to_le_bytes());
        out.extend_from_slice(&stretch.last_step.to_le_bytes());
        out.extend_from_slice(&stretch.count.to_le_bytes());
    }
    if !series.attempts.is_empty() {
        let count = u32::try_from(series.attempts.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&count.to_le_bytes());
        for attempt in &series.attempts {
            let first = attempt.first_wall_time_secs.unwrap_or(f64::NAN);
            out.extend_from_slice(&attempt.number.to_le_bytes());
            out.extend_from_slice(&first.to_le_bytes());
            out.extend_from_slice(&attempt.from.to_le_bytes());
            out.extend_from_slice(&attempt.to.to_le_bytes());
        }
    }
    if let Some(first) = series.steps.first() {
        match coding {
            Steps::Stride(stride) => {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&stride.to_le_bytes());
            }
            Steps::Delta => {
                out.extend_from_slice(&first.to_le_bytes());
                for w in series.steps.windows(2) {
                    out.extend_from_slice(
                        &u32::try_from(w[1] - w[0]).unwrap_or(u32::MAX).to_le_bytes(),
                    );
                }
            }
            Steps::Plain => {
                for step in &series.steps {
                    out.extend_from_slice(&step.to_le_bytes());
                }
            }
        }
    }
    for column in [&series.values, &series.min, &series.max] {
        if single {
            for value in column {
                #[expect(clippy::cast_possible_truncation, reason = "checked by fits_single")]
                let value = *value as f32;
                out.extend_from_slice(&value.to_le_bytes());
            }
        } else {
            for value in column {
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
    for wall_time_secs in &series.wall_times_secs {
        out.extend_from_slice(&wall_time_secs.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ColumnsError> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(ColumnsError)?;
        self.0 = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32, ColumnsError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ColumnsError> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, ColumnsError> {
        self.take().map(i64::from_le_bytes)
    }

    fn floats(&mut self, n: usize, single: bool) -> Result<Vec<f64>, ColumnsError> {
        let width = if single { 4 } else { 8 };
        let len = n.checked_mul(width).ok_or(ColumnsError)?;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(ColumnsError)?;
        self.0 = rest;
        Ok(if single {
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|b| f64::from(f32::from_le_bytes(*b)))
                .collect()
        } else {
            bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| f64::from_le_bytes(*b))
                .collect()
        })
    }
}

/// Reads an answer that [`encode`] wrote. Never panics, and never allocates more than the length of the input allows.
pub fn decode(bytes: &[u8]) -> Result<ScalarsAnswer, ColumnsError> {
    let mut reader = Reader(bytes);
    if &reader.take::<4>()? != MAGIC {
        return Err(ColumnsError);
    }
    let n = reader.u32()? as usize;
    let seq = reader.u64()?;
    let mut series = Vec::with_capacity(n.min(bytes.len() / 4));
    for _ in 0..n {
        series.push(decode_series(&mut reader)?);
    }
    Ok(ScalarsAnswer { seq, series })
}

fn decode_series(reader: &mut Reader<'_>) -> Result<Option<Series>, ColumnsError> {
    let flags = reader.u32()?;
    if flags & PRESENT == 0 {
        return Ok(None);
    }
    let n = reader.u32()? as usize;
    let total = reader.u64()?;
    let live = (flags & LIVE != 0).then(|| reader.u64()).transpose()?;
    let stretches = reader.u32()? as usize;
    let mut non_finite = Vec::with_capacity(stretches.min(reader.0.len() / 28));
    for _ in 0..stretches {
        let class = match reader.u32()? {
            0 => NonFiniteClass::Nan,
            1 => NonFiniteClass::PosInf,
            2 => NonFiniteClass::NegInf,
            _ => return Err(ColumnsError),
        };
        let (first_step, last_step, count) = (reader.i64()?, reader.i64()?, reader.u64()?);
        non_finite.push(NonFinite {
            class,
            first_step,
            last_step,
            count,
        });
    }
    let attempts = if flags & ATTEMPTS == 0 {
        Vec::new()
    } else {
        decode_attempts(reader)?
    };
    let single = flags & SINGLE != 0;
    let mut steps = Vec::new();
    if n > 0 {
        // The values follow in any case, so `n` is bounded by the bytes before anything of its size is allocated.
        if n.checked_mul(4).is_none_or(|least| least > reader.0.len()) {
            return Err(ColumnsError);
        }
        steps.reserve(n);
        if flags & STRIDE != 0 {
            let (first, stride) = (reader.i64()?, reader.i64()?);
            let mut step = first;
            for _ in 0..n {
                steps.push(step);
                step = step.wrapping_add(stride);
            }
        } else if flags & DELTA != 0 {
            let mut step = reader.i64()?;
            steps.push(step);
            for _ in 1..n {
                step = step.wrapping_add(i64::from(reader.u32()?));
                steps.push(step);
            }
        } else {
            for _ in 0..n {
                steps.push(reader.i64()?);
            }
        }
    }
    let values = reader.floats(n, single)?;
    let column = |wanted: u32, single: bool, reader: &mut Reader<'_>| {
        if flags & wanted == 0 {
            Ok(Vec::new())
        } else {
            reader.floats(n, single)
        }
    };
    let min = column(MIN, single, reader)?;
    let max = column(MAX, single, reader)?;
    let wall_times_secs = column(WALL, false, reader)?;
    Ok(Some(Series {
        total,
        cut: flags & CUT != 0,
        steps,
        wall_times_secs,
        values,
        min,
        max,
        non_finite,
        live,
        per_epoch: flags & PER_EPOCH != 0,
        attempts,
    }))
}

fn decode_attempts(reader: &mut Reader<'_>) -> Result<Vec<Attempt>, ColumnsError> {
    let count = reader.u32()? as usize;
    let mut attempts = Vec::with_capacity(count.min(reader.0.len() / 32));
    for _ in 0..count {
        let number = reader.u64()?;
        let first = f64::from_le_bytes(reader.take()?);
        attempts.push(Attempt {
            number,
            first_wall_time_secs: Some(first).filter(|first| first.is_finite()),
            from: reader.i64()?,
            to: reader.i64()?,
        });
    }
    Ok(attempts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(steps: Vec<i64>, values: Vec<f64>) -> Series {
        Series {
            total: steps.len() as u64,
            steps,
            values,
            ..Series::default()
        }
    }

    #[test]
    fn every_coding_of_steps_and_values_comes_back() {
        let answer = ScalarsAnswer {
            seq: 7,
            series: vec![
                Some(series(vec![], vec![])),
                Some(series(vec![5], vec![0.1])),
                Some(series(vec![0, 10, 20], vec![1.0, f64::INFINITY, -0.0])),
                None,
                Some(series(vec![0, 1, 5], vec![0.1, 0.2, 1e300])),
                Some(series(vec![9, 3, i64::MIN, i64::MAX], vec![1.0; 4])),
                Some(Series {
                    cut: true,
                    live: Some(1),
                    per_epoch: true,
                    min: vec![0.5, 1.0],
                    max: vec![2.0, 3.0],
                    wall_times_secs: vec![1.0e9, 1.0e9 + 0.25],
                    non_finite: vec![NonFinite {
                        class: NonFiniteClass::NegInf,
                        first_step: 1,
                        last_step: 2,
                        count: 3,
                    }],
                    attempts: [(1, Some(1.5e9)), (2, None)]
                        .map(|(number, first_wall_time_secs)| Attempt {
                            number,
                            first_wall_time_secs,
                            from: -1,
                            to: i64::MAX,
                        })
                        .to_vec(),
                    ..series(vec![1, 2], vec![1.0, 2.0])
                }),
            ],
        };
        let bytes = encode(&answer);
        assert_eq!(decode(&bytes).unwrap(), answer);
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), Err(ColumnsError), "cut at {cut}");
        }
    }

    #[test]
    fn nan_stays_nan_and_a_thousand_points_of_f32_take_four_bytes_each() {
        let mut values = vec![0.5; 1000];
        values[3] = f64::NAN;
        let answer = ScalarsAnswer {
            seq: 0,
            series: vec![Some(series((0..1000).collect(), values))],
        };
        let bytes = encode(&answer);
        assert!(bytes.len() < 4_100, "{}", bytes.len());
        assert!(decode(&bytes).unwrap().series[0].as_ref().unwrap().values[3].is_nan());
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_it_is_allocated() {
        let mut bytes = encode(&ScalarsAnswer {
            seq: 0,
            series: vec![Some(series(vec![1, 2], vec![1.0, 2.0]))],
        });
        bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decode(&bytes), Err(ColumnsError));
    }
}
