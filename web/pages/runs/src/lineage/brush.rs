//! Brushes: ranges, choices and lanes of axes that rows must pass, and their text in the address:
//! `lr:1e-4..1e-2,3e-2..;opt:=adam|=sgd|!none`.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use trainscope_api::filter::terms as parsed_terms;
use trainscope_charts::parallel::{AxisKind, Lane, Spot};

use super::axis::OTHERS;
use trainscope_web_kit::url_state::{Key, Setting};

/// Dividers of the text, escaped in keys and choices.
const DIVIDERS: &AsciiSet = &CONTROLS
    .add(b'%')
    .add(b';')
    .add(b':')
    .add(b'|')
    .add(b',')
    .add(b'=')
    .add(b'!');

/// Values that pass an axis; a single match is enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Brush {
    /// Minimum and maximum, both inclusive.
    pub(super) ranges: Vec<(f64, f64)>,
    /// Values of a category, as text.
    pub(super) choices: Vec<String>,
    /// Lanes of values that the axis cannot show.
    pub(super) lanes: Vec<Lane>,
}

/// Width of a mark, CSS pixels: `.pc-brush`.
pub(super) const MARK_WIDTH: f64 = 13.0;

/// A brush, or a part of a brush, over its axis, CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BrushMark {
    /// Middle of the axis.
    pub(super) x: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) label: String,
}

/// Brushes of all axes by the key of the column. A row must pass all of them.
pub(super) type Brushes = BTreeMap<String, Brush>;

/// Lanes with their texts in the address.
const LANES: [(Lane, &str); 6] = [
    (Lane::Nan, "nan"),
    (Lane::PosInf, "inf"),
    (Lane::NegInf, "-inf"),
    (Lane::Missing, "none"),
    (Lane::OffScale, "off"),
    (Lane::Text, "text"),
];

impl Brush {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.choices.is_empty() && self.lanes.is_empty()
    }

    /// `true` if a value passes.
    pub(super) fn holds(&self, spot: Spot, kind: &AxisKind) -> bool {
        if let Some(lane) = Lane::of(spot, kind) {
            return self.lanes.contains(&lane);
        }
        match (spot, kind) {
            (Spot::Number(number), _) => self
                .ranges
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&number)),
            (Spot::Choice(choice), AxisKind::Choices(names)) => {
                let name = names.get(choice as usize);
                name.is_some_and(|name| self.choices.contains(name))
            }
            _ => false,
        }
    }

    /// The brush as a term of the filter; `None` if no term has the same meaning.
    pub(super) fn term(&self, key: &str) -> Option<String> {
        let ranges = self
            .ranges
            .iter()
            .map(|(from, to)| format!("{}..{}", end(*from), end(*to)));
        let lane = |lane: &Lane| match lane {
            Lane::Nan => Some("nan".to_owned()),
            Lane::PosInf => Some("inf".to_owned()),
            Lane::NegInf => Some("-inf".to_owned()),
            Lane::Missing => Some("none".to_owned()),
            Lane::OffScale => Some("..0".to_owned()),
            Lane::Text => None,
        };
        let choices = self.choices.iter().map(|choice| pattern(choice));
        let any: Option<Vec<String>> = ranges
            .map(Some)
            .chain(choices)
            .chain(self.lanes.iter().map(lane))
            .collect();
        let any = any?;
        let text = format!("{key}:{}", any.join("|"));
        // A key can contain dividers of the filter.
        let is_same = match &parsed_terms(&text)[..] {
            [term] => {
                let values = any.iter().map(|value| value.to_lowercase());
                !term.is_negated
                    && term.key.as_ref() == Some(&key.to_lowercase())
                    && values.eq(term.any.iter().cloned())
            }
            _ => false,
        };
        is_same.then_some(text)
    }

    /// Adds a choice, or removes it if it is there.
    pub(super) fn toggle(&mut self, choice: &str) {
        match self.choices.iter().position(|known| known == choice) {
            Some(position) => {
                self.choices.remove(position);
            }
            None => self.choices.push(choice.to_owned()),
        }
    }

    fn text(&self) -> String {
        let ranges = self
            .ranges
            .iter()
            .map(|(from, to)| format!("{}..{}", end(*from), end(*to)));
        let choices = self
            .choices
            .iter()
            .map(|choice| format!("={}", escaped(choice)));
        let named = |lane: &Lane| {
            LANES
                .iter()
                .find(|(known, _)| known == lane)
                .map(|(_, name)| *name)
        };
        let lanes = self
            .lanes
            .iter()
            .filter_map(named)
            .map(|name| format!("!{name}"));
        ranges
            .chain(choices)
            .chain(lanes)
            .collect::<Vec<_>>()
            .join(",")
    }

    fn parse(text: &str) -> Self {
        let mut brush = Self::default();
        for part in text.split(',') {
            if let Some(choice) = part.strip_prefix('=') {
                brush.choices.push(unescaped(choice));
            } else if let Some(name) = part.strip_prefix('!') {
                let lane = LANES.iter().find(|(_, known)| *known == name);
                brush.lanes.extend(lane.map(|(lane, _)| *lane));
            } else if let Some((from, to)) = part.split_once("..") {
                let end = |text: &str, open: f64| {
                    if text.is_empty() {
                        Some(open)
                    } else {
                        trainscope_web_kit::format::parse_number(text)
                    }
                };
                let ends = end(from, f64::NEG_INFINITY).zip(end(to, f64::INFINITY));
                brush
                    .ranges
                    .extend(ends.map(|(from, to)| (from.min(to), from.max(to))));
            }
        }
        brush
    }
}

/// Value of the filter for a choice; `None` if the filter cannot express it: the other values, which it does not know,
/// and signs that it does not take for those of numbers. Dividers of the filter become `*`, since a bar does not divide
/// a term in quotes.
fn pattern(choice: &str) -> Option<String> {
    let is_divider = |character: char| character.is_whitespace() || "|\":".contains(character);
    match choice {
        OTHERS | "" => None,
        _ if choice.contains(['−', '∞']) => None,
        _ => Some(format!("={}", choice.replace(is_divider, "*"))),
    }
}

/// Terms of the filter for brushes, and the brushes without one.
pub(super) fn terms(brushes: &Brushes) -> (String, Brushes) {
    let (mut terms, mut others) = (Vec::new(), Brushes::new());
    for (key, brush) in brushes {
        match brush.term(key) {
            Some(term) => terms.push(term),
            None => {
                others.insert(key.clone(), brush.clone());
            }
        }
    }
    (terms.join(" "), others)
}

/// An end of a range; empty if it is open.
fn end(number: f64) -> String {
    if number.is_infinite() {
        String::new()
    } else {
        number.to_string()
    }
}

/// Parameter of the address: the brushes of all axes.
pub(super) const BRUSH: Setting<Brushes> =
    Key::with("brush", |value| Some(parse(value)), text).or(Brushes::new());

/// Text of brushes for the address.
fn text(brushes: &Brushes) -> String {
    let filled = brushes.iter().filter(|(_, brush)| !brush.is_empty());
    let texts: Vec<String> = filled
        .map(|(key, brush)| format!("{}:{}", escaped(key), brush.text()))
        .collect();
    texts.join(";")
}

/// Parses the text of brushes; skips invalid parts.
fn parse(text: &str) -> Brushes {
    let parts = text.split(';').filter_map(|part| part.split_once(':'));
    let brushes = parts.map(|(key, text)| (unescaped(key), Brush::parse(text)));
    brushes.filter(|(_, brush)| !brush.is_empty()).collect()
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, DIVIDERS).to_string()
}

fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use trainscope_charts::scale::Scale;

    use super::*;

    #[test]
    fn brushes_survive_their_address() {
        let lr = Brush {
            ranges: vec![(1e-4, 1e-2), (0.03, f64::INFINITY)],
            lanes: vec![Lane::Nan, Lane::Missing],
            choices: Vec::new(),
        };
        let opt = Brush {
            choices: vec![
                "adam|w;:=,100%".to_owned(),
                "!none".to_owned(),
                "<b>".to_owned(),
            ],
            ..Brush::default()
        };
        let all = Brushes::from([("metric:loss;x".to_owned(), lr), ("opt".to_owned(), opt)]);
        let text = text(&all);
        assert_eq!(parse(&text), all, "{text}");
        assert_eq!(
            parse("lr:1e-4..1e-2,3e-2..")["lr"].ranges,
            [(1e-4, 1e-2), (0.03, f64::INFINITY)]
        );
        assert!(parse("lr;:;lr:x..y;opt:!what").is_empty());
        assert_eq!(super::text(&Brushes::new()), "");
    }

    #[test]
    fn values_without_a_place_pass_by_their_lane_only() {
        let brush = Brush {
            ranges: vec![(0.0, 1.0)],
            lanes: vec![Lane::Nan],
            ..Brush::default()
        };
        let axis = |scale: Scale| AxisKind::Numbers {
            scale,
            is_whole: false,
        };
        let holds = |spot: Spot| brush.holds(spot, &axis(Scale::Linear));
        assert!(holds(Spot::Number(0.5)) && holds(Spot::Number(f64::NAN)));
        assert!(!holds(Spot::Number(2.0)) && !holds(Spot::Missing));
        assert!(!holds(Spot::Number(f64::INFINITY)) && !holds(Spot::Text));
        assert!(
            !brush.holds(Spot::Number(0.0), &axis(Scale::Log)),
            "off a logarithmic axis"
        );
        assert_eq!(brush.term("lr").as_deref(), Some("lr:0..1|nan"));
        let choice = Brush {
            choices: vec!["a b".to_owned()],
            ..Brush::default()
        };
        let names = AxisKind::Choices(vec!["c".to_owned(), "a b".to_owned()]);
        assert!(choice.holds(Spot::Choice(1), &names) && !choice.holds(Spot::Choice(0), &names));
        assert_eq!(choice.term("opt").as_deref(), Some("opt:=a*b"));
    }

    #[test]
    fn a_brush_becomes_a_term_of_the_same_meaning_or_stays() {
        let of = |choices: &[&str]| Brush {
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
            ..Brush::default()
        };
        let term = |key: &str, choices: &[&str]| of(choices).term(key);
        assert_eq!(
            term("opt", &["a|b", "c \"d\""]).as_deref(),
            Some("opt:=a*b|=c**d*")
        );
        // In the key of a column the last colon divides.
        assert_eq!(
            term("data:pipeline", &["a:b"]).as_deref(),
            Some("data:pipeline:=a*b")
        );
        assert_eq!(term("opt", &["None"]).as_deref(), Some("opt:=None"));
        for choices in [&["a", OTHERS][..], &[""], &["−0.500"], &[]] {
            assert_eq!(term("opt", choices), None, "{choices:?}");
        }
        for key in ["two words", "model:opt", "-opt", ""] {
            assert_eq!(term(key, &["a"]), None, "{key}");
        }
        let texts = Brush {
            ranges: vec![(0.0, 1.0)],
            lanes: vec![Lane::Text],
            ..Brush::default()
        };
        assert_eq!(texts.term("lr"), None);

        let all = [("a", of(&["x"])), ("b", of(&[OTHERS])), ("c", of(&["y"]))];
        let all: Brushes = all
            .into_iter()
            .map(|(key, brush)| (key.to_owned(), brush))
            .collect();
        let (text, others) = terms(&all);
        assert_eq!(text, "a:=x c:=y");
        assert_eq!(others, Brushes::from([("b".to_owned(), of(&[OTHERS]))]));
    }
}
