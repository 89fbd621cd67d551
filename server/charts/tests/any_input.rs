//! No input makes a plot panic or draw outside of its picture.

use plotters::prelude::SVGBackend;
use proptest::prelude::*;
use trainscope_charts::geometry::{Geometry, end_of};
use trainscope_charts::line::{Class, LimitLine, Line, Spec, Stretch, Stroke, XKind, YRange};
use trainscope_charts::overlay::{self, Crosshair};
use trainscope_charts::scale::Scale;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_charts::{label, smooth, spark, svg};

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>(),
        4 => -100.0..100.0_f64,
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0,
            9_223_372_036_854_775_807.0, -9_223_372_036_854_775_808.0,
        ]),
    ]
}

fn line() -> impl Strategy<Value = Line> {
    let list = || prop::collection::vec(number(), 0..40);
    let class = prop::sample::select(vec![Class::Nan, Class::PosInf, Class::NegInf]);
    let stretches = prop::collection::vec((class, number(), number()), 0..4);
    let stroke = prop::sample::select(vec![
        Stroke::Solid,
        Stroke::Dashed,
        Stroke::Shared { index: 1, of: 0 },
        Stroke::Shared { index: 9, of: 3 },
    ]);
    (
        list(),
        list(),
        list(),
        list(),
        list(),
        stretches,
        stroke,
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(x, values, raw, low, high, stretches, stroke, [is_main, is_live, is_raw])| Line {
                colour: Rgb(1, 2, 3),
                stroke,
                is_main,
                is_live,
                x,
                values,
                raw,
                low,
                high,
                stretches: stretches
                    .into_iter()
                    .map(|(class, first, last)| Stretch {
                        class,
                        first,
                        last,
                        label: "+Inf <&> 1".to_owned(),
                    })
                    .collect(),
                is_raw,
                beyond: vec![(1.0, f64::INFINITY), (f64::NEG_INFINITY, -1.0)],
            },
        )
}

fn scale() -> impl Strategy<Value = Scale> {
    prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log),
        number().prop_map(|linear| Scale::Symlog { linear }),
    ]
}

proptest! {
    #[test]
    fn plots_of_anything_are_drawn(
        (width, height, dpr) in (number(), number(), number()),
        x in (number(), number()),
        kind in 0..4,
        (x_scale, scale, robust) in (scale(), scale(), any::<bool>()),
        lines in prop::collection::vec(line(), 0..5),
    ) {
        let x_kind = match kind {
            0 => XKind::Step,
            1 => XKind::Relative,
            2 => XKind::Wall { offset_secs: 3_600.0 },
            _ => XKind::Value,
        };
        let limits = vec![LimitLine { value: x.0, text: "<limit>".to_owned(), is_passed: true }];
        let y_range = if robust { YRange::Robust } else { YRange::All };
        let spec = Spec { width, height, dpr, x, x_kind, x_scale, scale, y_range, limits, lines };
        let geometry = Geometry::new(&spec);
        prop_assert!(geometry.y.axis.lo() < geometry.y.axis.hi());
        prop_assert!(geometry.x_ticks.len() <= 7);
        prop_assert!(geometry.x_at(geometry.plot.left).is_finite());
        prop_assert!(svg::line(&spec, &Theme::light()).ends_with("</svg>\n"));
        let crosshair = Crosshair { x: x.1, text: "<1>".to_owned(), dots: vec![(x.0, Rgb(1, 2, 3))] };
        let mut text = String::new();
        let backend = SVGBackend::with_string(&mut text, (100, 100));
        let selection = Some((width, height));
        let drawn = overlay::draw(backend, &geometry, &Theme::dark(), Some(&crosshair), selection);
        prop_assert!(drawn.is_ok());
    }

    #[test]
    fn labels_of_anything_have_text(value in number(), step in number(), days in number()) {
        prop_assert!(!label::value(value).is_empty());
        prop_assert!(label::ticks(&[value], step).iter().all(|text| !text.is_empty()));
        prop_assert!(!label::duration(value, step).is_empty());
        prop_assert!(!label::clock(value, step).is_empty());
        let (_, month, day) = label::date(days);
        prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
    }

    #[test]
    fn growing_never_shrinks(lo in number(), hi in number(), is_growing in any::<bool>()) {
        let grown = end_of(lo, hi, XKind::Step, is_growing);
        prop_assert!(hi.is_nan() || grown >= hi, "{}", grown);
    }

    #[test]
    fn sparks_stay_in_their_cell(steps in prop::collection::vec(any::<i64>(), 0..20), values in prop::collection::vec(number(), 0..20)) {
        let spark = spark::spark(&steps, &values, 76.0, 20.0);
        for number in spark.line.split(['M', 'L', ' ']).filter(|text| !text.is_empty()) {
            let number: f64 = number.parse().unwrap();
            prop_assert!((0.0..=76.0).contains(&number), "{}", spark.line);
        }
    }

    #[test]
    fn smoothing_keeps_the_length(
        x in prop::collection::vec(number(), 0..50),
        values in prop::collection::vec(number(), 0..50),
        weight in number(),
        unit in number(),
    ) {
        for kind in [smooth::Kind::Ema, smooth::Kind::Mean, smooth::Kind::Gaussian] {
            let out = smooth::by(kind, &x, &values, weight, unit);
            prop_assert_eq!(out.len(), values.len());
            prop_assert!(out.iter().zip(&values).all(|(out, value)| out.is_finite() == value.is_finite()));
        }
    }
}
