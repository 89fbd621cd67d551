//! Histograms, and exponents among statistics, counted again in bins that runs and steps share.
//!
//! Each series is read twice, chunk by chunk: for the range of its values, then for the counts. Nothing of it is kept.

use trainscope_analysis::histogram::{self, Grid, Mass, Span};
use trainscope_api::distributions::{
    Distribution, DistributionKey, DistributionsAnswer, DistributionsRequest, Fault, Row, Source,
    Spacing,
};
use trainscope_api::records::{At, RecordsQuery};
use trainscope_format::{Body, Kind};

use crate::index::{Index, ReadError};

/// Distributions in shared bins, with limits on rows per series and bins.
pub(crate) fn answer(
    index: &Index,
    request: &DistributionsRequest,
    rows: usize,
    bins: usize,
) -> Result<DistributionsAnswer, ReadError> {
    let mut span = Span::default();
    let mut totals = Vec::new();
    for key in &request.series {
        let mut total = 0_u64;
        let found = each(index, key, request, |_, mass| {
            total += 1;
            span.add(mass);
        })?;
        totals.push(found.then_some(total));
    }
    let exponents = span.is_exponents();
    let spacing = match request.spacing {
        _ if exponents => histogram::Spacing::Symlog,
        Spacing::Auto => span.fitting(),
        Spacing::Linear => histogram::Spacing::Linear,
        Spacing::Symlog => histogram::Spacing::Symlog,
    };
    let grid = if exponents {
        Grid::of_exponents(&span, bins)
    } else {
        Grid::new(&span, bins, spacing)
    };
    let mut series = Vec::new();
    for (key, total) in request.series.iter().zip(totals) {
        let Some(total) = total else {
            series.push(None);
            continue;
        };
        let mut groups = Groups::new(&grid, total, rows as u64);
        each(index, key, request, |at, mass| groups.add(at, mass))?;
        series.push(Some(Distribution {
            total,
            cut: total > rows as u64,
            rows: groups.finish(),
        }));
    }
    Ok(DistributionsAnswer {
        edges: grid.edges().to_vec(),
        spacing: match spacing {
            histogram::Spacing::Linear => Spacing::Linear,
            histogram::Spacing::Symlog => Spacing::Symlog,
        },
        exponents,
        linear: grid.linear(),
        series,
    })
}

/// Calls `look` for every record of a series; `false` if there is no such series.
fn each(
    index: &Index,
    key: &DistributionKey,
    request: &DistributionsRequest,
    mut look: impl FnMut(&At<()>, &Mass),
) -> Result<bool, ReadError> {
    let kind = match key.source {
        Source::Histograms => Kind::Histograms,
        Source::Statistics => Kind::Statistics,
    };
    let query = RecordsQuery {
        run: key.run.clone(),
        tag: key.tag.clone(),
        rank: key.rank,
        writer: key.writer.clone(),
        from: request.from,
        to: request.to,
        ..RecordsQuery::default()
    };
    let read = index.each_record(kind, &query, |record| {
        let mass = match &record.body {
            Body::Histogram(histogram) => Mass::of_histogram(histogram),
            Body::Statistics(summary) => Mass::of_statistics(summary),
            _ => return,
        };
        let at = At {
            step: record.step,
            wall_time_secs: record.wall_time_secs,
            body: (),
        };
        look(&at, &mass);
    });
    match read {
        Ok(()) => Ok(true),
        Err(ReadError::UnknownRun(_) | ReadError::UnknownTag { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Groups consecutive records into rows of about equal size.
struct Groups<'a> {
    grid: &'a Grid,
    total: u64,
    most: u64,
    seen: u64,
    open: Option<(Row, histogram::Row)>,
    done: Vec<Row>,
}

impl<'a> Groups<'a> {
    fn new(grid: &'a Grid, total: u64, most: u64) -> Self {
        Self {
            grid,
            total,
            most,
            seen: 0,
            open: None,
            done: Vec::new(),
        }
    }

    fn add(&mut self, at: &At<()>, mass: &Mass) {
        let (row, counted) = self.open.get_or_insert_with(|| {
            let row = Row {
                first_step: at.step,
                ..Row::default()
            };
            (row, histogram::Row::new(self.grid))
        });
        row.records += 1;
        (row.step, row.wall_time_secs) = (at.step, at.wall_time_secs);
        counted.add(mass, self.grid);
        self.seen += 1;
        // Number of records at which the row before ends; a run may have grown since they were counted.
        let ends = |seen: u64| seen * self.most / self.total.max(1);
        if self.total <= self.most || ends(self.seen) > ends(self.seen - 1) {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((row, counted)) = self.open.take() else {
            return;
        };
        let percentiles = counted.percentiles(self.grid);
        self.done.push(Row {
            finite: counted.finite(),
            nan: counted.nan,
            pos_inf: counted.pos_inf,
            neg_inf: counted.neg_inf,
            percentiles: percentiles.map(Vec::from).unwrap_or_default(),
            faults: counted.faults.iter().map(|fault| named(*fault)).collect(),
            counts: counted.counts,
            ..row
        });
    }

    fn finish(mut self) -> Vec<Row> {
        self.close();
        self.done
    }
}

fn named(fault: histogram::Fault) -> Fault {
    match fault {
        histogram::Fault::Unsorted => Fault::Unsorted,
        histogram::Fault::Overlapping => Fault::Overlapping,
        histogram::Fault::BadCount => Fault::BadCount,
        histogram::Fault::BadEdge => Fault::BadEdge,
        histogram::Fault::NoExponents => Fault::NoExponents,
    }
}
