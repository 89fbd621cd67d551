//! Points as text, card after card.

use std::fmt::Write as _;

use serde::Serialize;
use trainscope_api::scalars::Series;

use super::Format;
use crate::scalars::data::CardLines;

/// Text of the points of the cards added so far.
pub(super) struct Points {
    format: Format,
    text: String,
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
        let head = match format {
            Format::Json => "{\"series\":[",
            _ => "tag,run,rank,writer,step,wall_time_secs,value,min,max\n",
        };
        Self {
            format,
            text: head.to_owned(),
        }
    }

    /// Adds the points of a tag.
    pub(super) fn add(&mut self, tag: &str, loaded: &CardLines) {
        if self.format == Format::Json {
            self.add_json(tag, loaded);
        } else {
            self.add_rows(tag, loaded);
        }
    }

    fn add_json(&mut self, tag: &str, loaded: &CardLines) {
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
            if self.text.ends_with('}') {
                self.text.push(',');
            }
            self.text.push('\n');
            self.text.push_str(&json);
        }
    }

    /// One row per point. Series with more than a million points have one row per bucket, with its bounds.
    fn add_rows(&mut self, tag: &str, loaded: &CardLines) {
        let tag = field(tag);
        for curve in &loaded.curves {
            let series = &curve.series;
            let run = field(&curve.id.run);
            let writer = field(curve.id.writer.as_deref().unwrap_or_default());
            for (index, (step, value)) in series.steps.iter().zip(&series.values).enumerate() {
                let at = |list: &[f64]| list.get(index).map(f64::to_string).unwrap_or_default();
                let bounds = if series.cut {
                    (at(&series.min), at(&series.max))
                } else {
                    (String::new(), String::new())
                };
                // Writing to a String does not fail.
                writeln!(
                    self.text,
                    "{tag},{run},{},{writer},{step},{},{value},{},{}",
                    curve.id.rank,
                    at(&series.wall_times_secs),
                    bounds.0,
                    bounds.1
                )
                .unwrap_or_default();
            }
        }
    }

    /// The whole text.
    pub(super) fn finish(mut self) -> String {
        if self.format == Format::Json {
            self.text.push_str("\n]}\n");
        }
        self.text
    }
}

/// A text field of RFC 4180. A field that a spreadsheet would take for a formula is marked as text.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
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
