//! Columns of the table of operators: their selection, texts and order of rows.

use std::cmp::Ordering;

use trainscope_api::profile::{OperatorGroup, OperatorRow};

use super::super::figures::short;
use super::super::model::time;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::Texts;
use trainscope_web_kit::url_state::Key;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Name,
    Type,
    Shapes,
    SelfStep,
    TotalStep,
    Calls,
    Mean,
    P99,
    Device,
    Share,
    Occupancy,
    TensorCores,
    Flops,
    OfPeak,
    Bandwidth,
    Roofline,
}

/// Divisors of the numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scale {
    /// Number of steps that the calls are divided by.
    pub(super) steps: u64,
    /// Peak of the device, FLOP per second, if it is known.
    pub(super) peak_flops: Option<f64>,
}

/// Nanoseconds in a second.
const NANOS: u128 = 1_000_000_000;

/// Space between two columns, and at both sides of the table together, CSS pixels.
const GAP: usize = 8;
const PADDING: usize = 24;

/// Order of rows: a column, and `true` for the largest first.
pub(super) type Order = (Column, bool);

/// Parameter of the address: the column, with a minus sign for the largest first.
pub(super) const SORT: Key<Order> = Key::with(
    "sort",
    |text| {
        let (key, is_down) = match text.strip_prefix('-') {
            Some(key) => (key, true),
            None => (text, false),
        };
        let mut all = Column::ALL.into_iter();
        Some((all.find(|column| column.key() == key)?, is_down))
    },
    |(column, is_down)| format!("{}{}", if *is_down { "-" } else { "" }, column.key()),
);

impl Column {
    const ALL: [Self; 16] = [
        Self::Name,
        Self::Type,
        Self::Shapes,
        Self::SelfStep,
        Self::TotalStep,
        Self::Calls,
        Self::Mean,
        Self::P99,
        Self::Device,
        Self::Share,
        Self::Occupancy,
        Self::TensorCores,
        Self::Flops,
        Self::OfPeak,
        Self::Bandwidth,
        Self::Roofline,
    ];

    /// Columns of a short table. The last one is the share of the device's peak if at least half of the rows have it.
    pub(super) fn few(rows: &[OperatorRow], scale: Scale) -> Vec<Self> {
        let with_peak = rows.iter().filter(|row| of_peak(row, scale).is_some());
        let has_peak = !rows.is_empty() && with_peak.count() * 2 >= rows.len();
        let last = if has_peak { Self::OfPeak } else { Self::Share };
        let first = [
            Self::Name,
            Self::SelfStep,
            Self::Calls,
            Self::Mean,
            Self::P99,
        ];
        first.into_iter().chain([last]).collect()
    }

    /// Columns with data in any row.
    pub(super) fn of(by: OperatorGroup, rows: &[OperatorRow], scale: Scale) -> Vec<Self> {
        let is_of_one = matches!(by, OperatorGroup::Name | OperatorGroup::Shape);
        let has = |column: &Self| match column {
            Self::Type => {
                // Names of PyTorch end with their type.
                let is_more = |row: &OperatorRow| !row.name.ends_with(&row.r#type);
                by != OperatorGroup::Type && rows.iter().any(is_more)
            }
            Self::Shapes => by == OperatorGroup::Shape,
            Self::TotalStep => !by.is_of_kernels(),
            Self::Device => {
                !by.is_of_kernels() && rows.iter().any(|row| row.device_total_nanos > 0)
            }
            Self::Occupancy => rows.iter().any(|row| row.occupancy.is_some()),
            Self::TensorCores => rows.iter().any(|row| row.tensor_cores),
            Self::Flops => rows.iter().any(|row| row.flops > 0),
            Self::OfPeak => rows.iter().any(|row| of_peak(row, scale).is_some()),
            // Groups of several operators contain some with unknown bytes.
            Self::Bandwidth => is_of_one && rows.iter().any(|row| bandwidth(row).is_some()),
            Self::Roofline => is_of_one && rows.iter().any(|row| row.roofline.is_some()),
            _ => true,
        };
        Self::ALL.into_iter().filter(has).collect()
    }

    /// Its head in a table of a group.
    pub(super) const fn title(self, by: OperatorGroup, scale: Scale, texts: Texts) -> &'static str {
        match self {
            Self::Name => texts.profile().group_heads[by as usize],
            Self::SelfStep if scale.steps == 0 => texts.profile().self_time,
            _ => texts.profile().columns[self as usize],
        }
    }

    /// Its name in the address.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type",
            Self::Shapes => "shapes",
            Self::SelfStep => "self",
            Self::TotalStep => "total",
            Self::Calls => "calls",
            Self::Mean => "mean",
            Self::P99 => "p99",
            Self::Device => "device",
            Self::Share => "share",
            Self::Occupancy => "occupancy",
            Self::TensorCores => "tensor_cores",
            Self::Flops => "flops",
            Self::OfPeak => "of_peak",
            Self::Bandwidth => "bandwidth",
            Self::Roofline => "roofline",
        }
    }

    /// Width in the grid of a row.
    fn width(self) -> String {
        let least = self.least_width();
        match self {
            Self::Name => format!("minmax({least}px, 1fr)"),
            Self::Type => format!("minmax({least}px, 72px)"),
            Self::Shapes => format!("minmax({least}px, 140px)"),
            _ => format!("{least}px"),
        }
    }

    /// Minimum width, CSS pixels.
    const fn least_width(self) -> usize {
        match self {
            Self::Name => 180,
            Self::Type => 48,
            Self::Shapes => 80,
            Self::SelfStep => 104,
            Self::Calls => 38,
            Self::Bandwidth => 64,
            Self::Roofline => 108,
            _ => 52,
        }
    }

    /// The grid of rows of these columns, and the width below which the table scrolls.
    pub(super) fn grid(columns: &[Self]) -> (String, String) {
        let widths: Vec<String> = columns.iter().map(|column| column.width()).collect();
        let least: usize = columns
            .iter()
            .map(|column| column.least_width() + GAP)
            .sum();
        (widths.join(" "), format!("{}px", least + PADDING))
    }

    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Name | Self::Type | Self::Shapes)
    }

    /// Text of a cell.
    pub(super) fn text(self, row: &OperatorRow, scale: Scale, texts: Texts) -> String {
        let steps = scale.steps.max(1);
        match self {
            Self::Name => row.name.clone(),
            Self::Type => row.r#type.clone(),
            Self::Shapes => row.shapes.clone(),
            Self::SelfStep => time(row.self_step_nanos),
            Self::TotalStep => time(row.total_nanos / i64::try_from(steps).unwrap_or(i64::MAX)),
            Self::Calls => format::brief(row.calls as f64 / steps as f64),
            Self::Mean => time(row.mean_nanos),
            Self::P99 => time(row.p99_nanos),
            Self::Device => time(row.device_total_nanos / i64::try_from(steps).unwrap_or(i64::MAX)),
            Self::Share => format::percent(row.share),
            Self::Occupancy => row
                .occupancy
                .map_or_else(|| "–".to_owned(), format::percent),
            Self::TensorCores => if row.tensor_cores { "✓" } else { "–" }.to_owned(),
            Self::Flops if row.flops == 0 => "–".to_owned(),
            Self::Flops => short(row.flops as f64 / steps as f64),
            Self::OfPeak => of_peak(row, scale).map_or_else(|| "–".to_owned(), format::percent),
            Self::Bandwidth => bandwidth(row).map_or_else(
                || "–".to_owned(),
                |rate| format!("{}/s", format::bytes(rate)),
            ),
            Self::Roofline => {
                let share = row.roofline.map(format::percent);
                let bound = row
                    .bound
                    .map(|bound| texts.profile().bounds[bound as usize]);
                match (share, bound) {
                    (Some(share), Some(bound)) => format!("{share} {bound}"),
                    _ => "–".to_owned(),
                }
            }
        }
    }

    fn number(self, row: &OperatorRow) -> f64 {
        match self {
            Self::Name | Self::Type | Self::Shapes => 0.0,
            Self::SelfStep => row.self_step_nanos as f64,
            Self::TotalStep => row.total_nanos as f64,
            Self::Calls => row.calls as f64,
            Self::Mean => row.mean_nanos as f64,
            Self::P99 => row.p99_nanos as f64,
            Self::Device => row.device_total_nanos as f64,
            Self::Share => row.share,
            Self::Occupancy => row.occupancy.unwrap_or(-1.0),
            Self::TensorCores => f64::from(u8::from(row.tensor_cores)),
            Self::Flops => row.flops as f64,
            // The peak is the same for all rows.
            Self::OfPeak => rate(row).unwrap_or(-1.0),
            Self::Bandwidth => bandwidth(row).map_or(-1.0, |rate| rate as f64),
            Self::Roofline => row.roofline.unwrap_or(-1.0),
        }
    }

    /// Positions of rows in an order; equal ones stay in the order of the server.
    pub(super) fn sorted(order: Option<Order>, rows: &[OperatorRow]) -> Vec<usize> {
        let mut positions: Vec<usize> = (0..rows.len()).collect();
        if let Some((column, is_down)) = order {
            positions.sort_by(|&a, &b| {
                let (a, b) = (&rows[a], &rows[b]);
                let order = match column {
                    Self::Name => a.name.cmp(&b.name),
                    Self::Type => a.r#type.cmp(&b.r#type),
                    Self::Shapes => a.shapes.cmp(&b.shapes),
                    _ => column.number(a).total_cmp(&column.number(b)),
                };
                if is_down { order.reverse() } else { order }
            });
        }
        positions
    }

    /// The order after a press on the head of this column: the largest number first, then the smallest, then the order
    /// of the server.
    pub(super) fn pressed(self, now: Option<Order>) -> Option<Order> {
        let first = !self.is_text();
        let is_down = match now {
            Some((column, is_down)) if column == self => (is_down == first).then_some(!first),
            _ => Some(first),
        };
        Some((self, is_down?))
    }

    /// `Greater` for descending, `Less` for ascending, `None` for another order; for screen readers.
    pub(super) fn direction(self, order: Option<Order>) -> Option<Ordering> {
        let (_, is_down) = order.filter(|order| order.0 == self)?;
        Some(if is_down {
            Ordering::Greater
        } else {
            Ordering::Less
        })
    }
}

/// FLOPs per second of the device, or of the host if it launched nothing; `None` without FLOPs or time.
fn rate(row: &OperatorRow) -> Option<f64> {
    let nanos = match row.device_total_nanos {
        0 => row.total_nanos,
        device => device,
    };
    (row.flops > 0 && nanos > 0).then(|| row.flops as f64 / (nanos as f64 / 1e9))
}

/// Minimum bytes per second that the device moves; `None` if unknown.
fn bandwidth(row: &OperatorRow) -> Option<u64> {
    let nanos = u64::try_from(row.bytes_nanos)
        .ok()
        .filter(|nanos| *nanos > 0)?;
    let rate = u128::from(row.bytes) * NANOS / u128::from(nanos);
    (row.bytes > 0).then(|| u64::try_from(rate).unwrap_or(u64::MAX))
}

fn of_peak(row: &OperatorRow, scale: Scale) -> Option<f64> {
    Some(rate(row)? / scale.peak_flops.filter(|peak| *peak > 0.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, calls: u64) -> OperatorRow {
        OperatorRow {
            name: name.to_owned(),
            calls,
            ..OperatorRow::default()
        }
    }

    #[test]
    fn a_head_is_pressed_three_times_until_all_is_as_before() {
        let mut order = None;
        let mut seen = Vec::new();
        for _ in 0..4 {
            order = Column::Calls.pressed(order);
            let text = order.and_then(|order| SORT.write(&order));
            order = text.as_deref().and_then(|text| SORT.read(text));
            seen.push(text.unwrap_or_default());
        }
        assert_eq!(seen, ["-calls", "calls", "", "-calls"]);
        assert_eq!(Column::Name.pressed(None), Some((Column::Name, false)));
        assert_eq!(SORT.read("?"), None);
    }

    #[test]
    fn rows_are_in_the_order_of_a_column() {
        let rows = [row("b", 1), row("a", 3), row("c", 3)];
        assert_eq!(Column::sorted(None, &rows), [0, 1, 2]);
        assert_eq!(
            Column::sorted(Some((Column::Name, false)), &rows),
            [1, 0, 2]
        );
        assert_eq!(
            Column::sorted(Some((Column::Calls, true)), &rows),
            [1, 2, 0]
        );
    }

    #[test]
    fn columns_without_data_are_left_out() {
        let columns = Column::of(OperatorGroup::Name, &[row("a", 1)], Scale::default());
        assert!(!columns.contains(&Column::Device) && !columns.contains(&Column::Flops));
        let with = OperatorRow {
            flops: 3,
            device_total_nanos: 1,
            total_nanos: 9,
            bytes: 30,
            bytes_nanos: 1,
            roofline: Some(0.25),
            bound: Some(trainscope_api::profile::Bound::Memory),
            ..row("a", 1)
        };
        let rows = [with];
        let columns = Column::of(OperatorGroup::Shape, &rows, Scale::default());
        assert!(columns.contains(&Column::Device) && columns.contains(&Column::Shapes));
        assert!(!columns.contains(&Column::OfPeak), "without a peak");
        // 3 FLOPs in a nanosecond of a device that makes 6.
        let scale = Scale {
            steps: 1,
            peak_flops: Some(6e9),
        };
        assert!(Column::of(OperatorGroup::Name, &rows, scale).contains(&Column::OfPeak));
        let texts = trainscope_web_kit::i18n::Locale::En.texts();
        assert_eq!(
            Column::OfPeak.text(&rows[0], scale, texts),
            format::percent(0.5)
        );
        // 30 bytes in a nanosecond.
        assert_eq!(Column::Bandwidth.text(&rows[0], scale, texts), "30 GB/s");
        assert_eq!(Column::Roofline.text(&rows[0], scale, texts), "25 % memory");
        let by_scope = Column::of(OperatorGroup::Scope, &rows, scale);
        assert!(!by_scope.contains(&Column::Roofline) && !by_scope.contains(&Column::Bandwidth));
    }
}
