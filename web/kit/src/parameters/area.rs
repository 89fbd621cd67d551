//! A selected stretch of time of some lanes, and its text in the address.

/// A stretch of time; of all lanes, or of some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Area {
    pub from: i64,
    pub to: i64,
    /// Indices of lanes; all if it is empty.
    pub lanes: Vec<u32>,
}

impl Area {
    /// Text for the address: `from,to`, then the lanes.
    pub fn to_text(&self) -> String {
        let numbers = [self.from.to_string(), self.to.to_string()];
        let lanes = self.lanes.iter().map(u32::to_string);
        numbers
            .into_iter()
            .chain(lanes)
            .collect::<Vec<_>>()
            .join(",")
    }

    /// Parses the text of an address; `None` if it is not a stretch of time.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(',');
        let from = numbers.next()?.parse().ok()?;
        let to = numbers.next()?.parse().ok()?;
        let lanes: Result<Vec<u32>, _> = numbers.map(str::parse).collect();
        let lanes = lanes.ok()?;
        (from < to).then_some(Self { from, to, lanes })
    }

    /// Lanes for a request; `None` for all.
    pub fn lanes_text(&self) -> Option<String> {
        let lanes: Vec<String> = self.lanes.iter().map(u32::to_string).collect();
        (!lanes.is_empty()).then(|| lanes.join(","))
    }

    pub const fn length(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_survives_its_address() {
        let all = Area {
            from: -5,
            to: 1_000,
            lanes: Vec::new(),
        };
        assert_eq!(all.to_text(), "-5,1000");
        let some = Area {
            lanes: vec![3, 1],
            ..all.clone()
        };
        for area in [all, some] {
            assert_eq!(Area::parse(&area.to_text()), Some(area));
        }
        for text in ["", "1", "2,1", "1,1", "1,2,x", "1.5,2"] {
            assert_eq!(Area::parse(text), None, "{text}");
        }
    }
}
