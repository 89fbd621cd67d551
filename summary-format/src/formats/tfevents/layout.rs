//! Layouts of scalar charts.

use super::super::event_file::{Fault, detailed};
use crate::body::Body;
use crate::formats::tensor_proto::TensorProto;
use crate::layout::{Chart, ChartCategory, ChartContent, ChartLayout, MarginSeries};
use crate::wire::{Fields, Value, WireError, text};

/// A tensor of one text, which is a `Layout`: categories 2.
pub(super) fn read(tensor: &TensorProto<'_>) -> Result<Body, Fault> {
    let mut categories = Vec::new();
    for field in Fields::of(detailed(tensor.single_text()?)?) {
        if let (2, Value::Bytes(message)) = field? {
            categories.push(category(message)?);
        }
    }
    Ok(Body::CustomScalars(ChartLayout { categories }))
}

/// A `Category`: title 1, charts 2, folded 3.
fn category(message: &[u8]) -> Result<ChartCategory, WireError> {
    let mut category = ChartCategory::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(title)) => category.title = text(title),
            (2, Value::Bytes(message)) => category.charts.push(chart(message)?),
            (3, Value::Varint(is_closed)) => category.is_closed = is_closed != 0,
            _ => {}
        }
    }
    Ok(category)
}

/// A `Chart`: title 1, and lines 2 or margins 3.
fn chart(message: &[u8]) -> Result<Chart, WireError> {
    let mut chart = Chart::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(title)) => chart.title = text(title),
            (2, Value::Bytes(lines)) => {
                let mut patterns = Vec::new();
                for field in Fields::of(lines) {
                    if let (1, Value::Bytes(pattern)) = field? {
                        patterns.push(text(pattern));
                    }
                }
                chart.content = ChartContent::Lines(patterns);
            }
            (3, Value::Bytes(margins)) => {
                let mut series = Vec::new();
                for field in Fields::of(margins) {
                    if let (1, Value::Bytes(message)) = field? {
                        series.push(margin(message)?);
                    }
                }
                chart.content = ChartContent::Margins(series);
            }
            _ => {}
        }
    }
    Ok(chart)
}

/// A `MarginChartContent.Series`: tags of the value 1, the lower 2 and the upper bound 3.
fn margin(message: &[u8]) -> Result<MarginSeries, WireError> {
    let mut series = MarginSeries::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(tag)) => series.value = text(tag),
            (2, Value::Bytes(tag)) => series.lower = text(tag),
            (3, Value::Bytes(tag)) => series.upper = text(tag),
            _ => {}
        }
    }
    Ok(series)
}
