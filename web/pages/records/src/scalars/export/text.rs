//! Points as text, card after card.

use std::io;

use serde::Serialize;
use trainscope_api::scalars::Series;
use trainscope_format::csv;

use super::Format;
use crate::scalars::data::CardLines;

/// Columns of CSV.
const COLUMNS: [&str; 9] = [
    "tag",
    "run",
    "rank",
    "writer",
    "step",
    "wall_time_secs",
    "value",
    "min",
    "max",
];

/// Points of the cards added so far.
pub(super) enum Points {
    Csv(Box<csv::Rows<Vec<u8>>>),
    Json(String),
}

/// A series in JSON: its names, then its lists as sent by the server.
#[derive(Serialize)]
struct NamedSeries<'a> {
    tag: &'a str,
    run: &'a str,
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<&'a str>,
    #[serde(flatten)]
    series: &'a Series,
}

impl Points {
    pub(super) fn new(format: Format) -> Self {
        if format == Format::Json {
            return Self::Json("{\"series\":[".to_owned());
        }
        let mut rows = csv::Rows::new(Vec::new());
        // Writing to memory does not fail.
        rows.row(COLUMNS).unwrap_or_default();
        Self::Csv(Box::new(rows))
    }

    /// Adds the points of a tag.
    pub(super) fn add(&mut self, tag: &str, loaded: &CardLines) {
        match self {
            Self::Csv(rows) => add_rows(rows, tag, loaded).unwrap_or_default(),
            Self::Json(text) => add_json(text, tag, loaded),
        }
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        match self {
            Self::Csv(rows) => rows.into_text(),
            Self::Json(text) => text + "\n]}\n",
        }
    }
}

fn add_json(text: &mut String, tag: &str, loaded: &CardLines) {
    for curve in &loaded.curves {
        let named = NamedSeries {
            tag,
            run: &curve.id.run,
            rank: curve.id.rank,
            writer: curve.id.writer.as_deref(),
            series: &curve.series,
        };
        // Lists of numbers can always be serialized.
        let Ok(json) = serde_json::to_string(&named) else {
            continue;
        };
        if text.ends_with('}') {
            text.push(',');
        }
        text.push('\n');
        text.push_str(&json);
    }
}

/// One row per point. Series with more than a million points have one row per bucket, with its bounds.
fn add_rows(rows: &mut csv::Rows<Vec<u8>>, tag: &str, loaded: &CardLines) -> io::Result<()> {
    for curve in &loaded.curves {
        let series = &curve.series;
        let rank = curve.id.rank.to_string();
        let writer = curve.id.writer.as_deref().unwrap_or_default();
        let (min, max) = if series.cut {
            (&*series.min, &*series.max)
        } else {
            Default::default()
        };
        for (index, (step, value)) in series.steps.iter().zip(&series.values).enumerate() {
            let at = |list: &[f64]| {
                list.get(index)
                    .copied()
                    .map(csv::number)
                    .unwrap_or_default()
            };
            rows.row([
                tag,
                &curve.id.run,
                &rank,
                writer,
                &step.to_string(),
                &at(&series.wall_times_secs),
                &csv::number(*value),
                &at(min),
                &at(max),
            ])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalars::data::Curve;
    use trainscope_web_kit::components::browse::SeriesId;

    fn loaded() -> CardLines {
        CardLines {
            curves: vec![Curve {
                id: SeriesId {
                    run: "=a,\"b\"".to_owned(),
                    ..SeriesId::default()
                },
                series: Series {
                    steps: vec![1, 2],
                    values: vec![0.1, f64::NAN],
                    min: vec![0.1, f64::NAN],
                    max: vec![0.1, f64::NAN],
                    ..Series::default()
                },
                ..Curve::default()
            }],
        }
    }

    #[test]
    fn every_value_is_written_and_names_are_text() {
        let mut points = Points::new(Format::Csv);
        points.add("loss", &loaded());
        assert_eq!(
            points.finish(),
            "tag,run,rank,writer,step,wall_time_secs,value,min,max\n\
             loss,\"'=a,\"\"b\"\"\",0,,1,,0.1,,\n\
             loss,\"'=a,\"\"b\"\"\",0,,2,,NaN,,\n"
        );
    }

    #[test]
    fn json_is_json_and_keeps_what_is_not_finite() {
        let mut points = Points::new(Format::Json);
        points.add("loss", &loaded());
        points.add("acc", &loaded());
        let read: serde_json::Value = serde_json::from_str(&points.finish()).unwrap();
        assert_eq!(read["series"][0]["values"][1], "NaN");
        assert_eq!(read["series"][1]["tag"], "acc");
        let empty = Points::new(Format::Json).finish();
        assert!(serde_json::from_str::<serde_json::Value>(&empty).is_ok());
    }
}
