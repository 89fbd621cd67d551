//! Quantity measured by the rule of the first cause, for the cells of the map.

use trainscope_api::Sentence;
use trainscope_api::findings::{Findings, Hit};
use trainscope_format::digits::Operator;
use trainscope_format::tensor::TensorStats;

use super::cell::{Cell, State};

/// Lower bounds of the levels, as multiples of the limit.
const PARTS: [f64; 4] = [0.25, 0.5, 1.0, 4.0];
/// Level of a value beyond its limit.
pub(super) const BEYOND: u8 = 3;

/// A measured quantity with its limit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    /// Name of the quantity, or the title of the watchpoint if the rule has none.
    pub(super) name: Sentence,
    /// Operator and limit: `< 1e−7`; may be empty.
    pub(super) threshold: String,
    condition: String,
    /// Name of the limiting parameter.
    parameter: String,
    limit: Option<(Operator, f64)>,
    /// `true` if the rule is about tensors of every role: all rows can be compared.
    is_of_all: bool,
}

impl Quantity {
    /// Quantity of the first cause; `None` if the cause is NaN or infinities.
    pub(super) fn of(findings: &Findings) -> Option<Self> {
        let hit = &findings.first_cause.as_ref()?.hit;
        let watched = findings.watchpoints.get(hit.watchpoint as usize);
        // NaN and infinities have separate states.
        if watched.is_some_and(|watchpoint| watchpoint.finds_not_finite) {
            return None;
        }
        let first = hit.measures.first();
        let title = || {
            watched
                .map(|watchpoint| watchpoint.title.clone())
                .unwrap_or_default()
        };
        let limited = first.filter(|measure| measure.limit.is_some());
        Some(Self {
            name: limited.map_or_else(title, |measure| measure.quantity.clone()),
            threshold: limited
                .map(|measure| measure.threshold.clone())
                .unwrap_or_default(),
            condition: hit.condition.clone(),
            parameter: first
                .map(|measure| measure.name.clone())
                .unwrap_or_default(),
            limit: limited.and_then(|measure| Some((measure.operator, measure.limit?.0))),
            is_of_all: watched.is_some_and(|watchpoint| watchpoint.target == "tensor"),
        })
    }

    /// Value of the quantity, if the statistics of the tensor contain it.
    fn read(&self, stats: &TensorStats) -> Option<f64> {
        match &*self.parameter {
            "zero_percentage_ge" => Some(stats.zero as f64 / stats.count.max(1) as f64 * 100.0),
            "abs_mean_lt" | "abs_mean_gt" => Some(stats.finite?.mean_abs),
            _ => None,
        }
    }

    /// Level from 0 (far from the limit) to 4 (far beyond it).
    fn level(&self, value: f64) -> u8 {
        let Some((operator, limit)) = self.limit else {
            return BEYOND;
        };
        let ratio = match operator {
            Operator::Above | Operator::AtLeast => value / limit,
            Operator::Below | Operator::AtMost => limit / value,
        };
        let passed = PARTS.iter().filter(|part| ratio >= **part).count();
        let level = u8::try_from(passed).unwrap_or(0);
        if operator.holds(value, limit) {
            level.max(BEYOND)
        } else {
            level.min(BEYOND - 1)
        }
    }

    /// Writes the quantity into the cells of a tensor or scalar, from its statistics at each step, else from its hits.
    pub(super) fn put_in(
        &self,
        cells: &mut [Cell],
        steps: &[i64],
        stats: &[Option<TensorStats>],
        hits: &[&Hit],
    ) {
        let matching: Vec<&&Hit> = hits
            .iter()
            .filter(|hit| hit.condition == self.condition)
            .collect();
        let is_comparable = self.is_of_all || !matching.is_empty();
        for (index, (cell, step)) in cells.iter_mut().zip(steps).enumerate() {
            if matches!(cell.state, State::Nan | State::Inf) {
                continue;
            }
            let hit = matching
                .iter()
                .find(|hit| (hit.step..=hit.last_step).contains(step));
            let found = hit.and_then(|hit| Some(hit.measures.first()?.value.0));
            let now = stats.get(index).and_then(Option::as_ref);
            let value = now.filter(|_| is_comparable).and_then(|now| self.read(now));
            let value = value.or(found);
            let level = match (hit, value) {
                (Some(_), value) => value.map_or(BEYOND, |value| self.level(value)).max(BEYOND),
                (None, Some(value)) => self.level(value),
                (None, None) => 0,
            };
            cell.value = value;
            if level > 0 {
                cell.state = State::Measured(level);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::CellStats;
    use super::super::onset::cells;
    use super::*;

    fn measured(parameter: &str, operator: Operator, limit: f64) -> Quantity {
        Quantity {
            name: Sentence::default(),
            threshold: String::new(),
            condition: "c".to_owned(),
            parameter: parameter.to_owned(),
            limit: Some((operator, limit)),
            is_of_all: true,
        }
    }

    #[test]
    fn levels_say_how_near_to_the_limit_a_value_is() {
        let above = measured("x", Operator::Above, 8.0);
        assert_eq!(
            [1.0, 2.0, 4.0, 8.0, 9.0, 78.0].map(|v| above.level(v)),
            [0, 1, 2, 2, 3, 4]
        );
        let below = measured("x", Operator::Below, 1e-7);
        assert_eq!(
            [1.0, 3e-7, 1.5e-7, 9e-8, 1e-11].map(|v| below.level(v)),
            [0, 1, 2, 3, 4]
        );
        // All zeros: the limit itself is a hit.
        let zeros = measured("zero_percentage_ge", Operator::AtLeast, 100.0);
        assert_eq!(
            [0.0, 30.0, 60.0, 100.0].map(|v| zeros.level(v)),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn the_share_of_zeros_colours_cells_without_a_hit() {
        let stats = |zero| {
            Some(TensorStats {
                zero,
                count: 10,
                ..TensorStats::default()
            })
        };
        let stats = [stats(0), stats(6), stats(10), None];
        let seen = [
            Some(CellStats::default()),
            Some(CellStats::default()),
            Some(CellStats::default()),
            None,
        ];
        let mut row = cells(&seen);
        let zeros = measured("zero_percentage_ge", Operator::AtLeast, 100.0);
        zeros.put_in(&mut row, &[0, 5, 10, 15], &stats, &[]);
        let drawn: Vec<State> = row.iter().map(|cell| cell.state).collect();
        let expected = [
            State::Finite,
            State::Measured(2),
            State::Measured(3),
            State::Missing,
        ];
        assert_eq!(drawn, expected);
        assert_eq!(row[1].value, Some(60.0));
    }
}
