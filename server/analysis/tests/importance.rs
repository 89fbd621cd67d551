//! Importances against those of Optuna, and of given trees against exact answers.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails where it should"
)]

use std::collections::BTreeMap;

use serde_json::Value;
use trainscope_analysis::columns::CellValue;
use trainscope_analysis::headline::Direction;
use trainscope_analysis::importance::fanova::{Boxes, Space};
use trainscope_analysis::importance::forest::{Forest, Node, Tree};
use trainscope_analysis::importance::ped::{self, Grid};
use trainscope_analysis::importance::rank;
use trainscope_analysis::importance::{
    Importance, Measure, NamedColumn, Question, Reason, importance, pair,
};

fn truth() -> Value {
    serde_json::from_str(include_str!("importance_truth.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_f64().unwrap())
        .collect()
}

fn tree(value: &Value) -> Tree {
    let list = |name: &str| numbers(&value[name]);
    let (feature, threshold, values) = (list("feature"), list("threshold"), list("value"));
    let (left, right) = (list("left"), list("right"));
    let node = |index: usize| {
        if feature[index] < 0.0 {
            return Node::Leaf(values[index]);
        }
        Node::Split {
            column: feature[index] as usize,
            threshold: threshold[index],
            left: left[index] as usize,
            right: right[index] as usize,
        }
    };
    Tree {
        nodes: (0..feature.len()).map(node).collect(),
    }
}

#[test]
fn variances_of_given_trees_are_exact() {
    let truth = &truth()["forest"];
    let bounds = truth["bounds"].as_array().unwrap();
    let bounds = bounds
        .iter()
        .map(numbers)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let space = Space { bounds };
    let features = truth["features"].as_array().unwrap().iter().map(numbers);
    let features: Vec<Vec<usize>> = features
        .map(|columns| columns.into_iter().map(|column| column as usize).collect())
        .collect();
    let mut shares = vec![Vec::new(); features.len()];
    for entry in truth["trees"].as_array().unwrap() {
        let boxes = Boxes::new(&tree(entry), &space);
        close(boxes.variance(), entry["variance"].as_f64().unwrap(), 1e-12);
        let expected = numbers(&entry["marginal_variance"]);
        for ((columns, expected), shares) in features.iter().zip(expected).zip(&mut shares) {
            let marginal = boxes.marginal_variance(columns);
            close(marginal, expected, 1e-12);
            shares.push(marginal / boxes.variance());
        }
        for (pair, expected) in entry["marginal_variance_of_pairs"].as_object().unwrap() {
            let pair = pair.split(',').map(|index| index.parse::<usize>().unwrap());
            let columns: Vec<usize> = pair.flat_map(|index| features[index].clone()).collect();
            close(
                boxes.marginal_variance(&columns),
                expected.as_f64().unwrap(),
                1e-12,
            );
        }
    }
    for (shares, expected) in shares.iter().zip(numbers(&truth["importance"])) {
        close(
            shares.iter().sum::<f64>() / shares.len() as f64,
            expected,
            1e-12,
        );
    }
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} is not {expected}"
    );
}

/// Values of a parameter by trial.
fn column(study: &Value, name: &str) -> Vec<Option<Value>> {
    let trials = study["trials"].as_array().unwrap();
    trials
        .iter()
        .map(|trial| trial["params"].get(name).cloned())
        .collect()
}

fn codes(study: &Value, name: &str) -> Vec<Option<u32>> {
    let choices = study["parameters"][name]["choices"].as_array().unwrap();
    let code = |value: Value| choices.iter().position(|choice| *choice == value).unwrap();
    let column = column(study, name).into_iter();
    column
        .map(|value| value.map(|value| u32::try_from(code(value)).unwrap()))
        .collect()
}

/// Study without the trials that have no value.
fn finished(study: &Value) -> (Value, Vec<f64>) {
    let mut study = study.clone();
    let trials = study["trials"].as_array_mut().unwrap();
    trials.retain(|trial| trial["value"].is_number());
    let values = trials
        .iter()
        .map(|trial| trial["value"].as_f64().unwrap())
        .collect();
    (study, values)
}

#[test]
fn the_best_tenth_agrees_with_optuna() {
    for study in truth()["studies"].as_array().unwrap() {
        let (study, values) = finished(study);
        let is_best = ped::best(&values);
        for (name, expected) in study["ped_anova"]["raw"].as_object().unwrap() {
            let parameter = &study["parameters"][name];
            let grid = if let Some(choices) = parameter["choices"].as_array() {
                Grid::of_categories(&codes(&study, name), choices.len())
            } else {
                let column = column(&study, name).into_iter();
                let column: Vec<Option<f64>> = column
                    .map(|value| value.and_then(|value| value.as_f64()))
                    .collect();
                let bound = |name: &str| parameter[name].as_f64().unwrap();
                let is_log = parameter["log"] == true;
                let is_integer = parameter["type"] == "int";
                Grid::of_numbers(&column, (bound("low"), bound("high")), is_log, is_integer)
            };
            let (found, expected) = (ped::importance(&grid, &is_best), expected.as_f64().unwrap());
            assert!(
                (found - expected).abs() <= 1e-6 * expected,
                "{name}: {found} is not {expected}"
            );
        }
    }
}

#[test]
fn correlations_agree_with_scipy() {
    for study in truth()["studies"].as_array().unwrap() {
        let (study, values) = finished(study);
        for (name, expected) in study["correlations"].as_object().unwrap() {
            if let Some(epsilon) = expected.get("rank_epsilon_squared") {
                let pairs = codes(&study, name).into_iter().zip(&values);
                let (codes, values): (Vec<u32>, Vec<f64>) = pairs
                    .filter_map(|(code, value)| Some((code?, *value)))
                    .unzip();
                close(
                    rank::epsilon_squared(&codes, &values).unwrap(),
                    epsilon.as_f64().unwrap(),
                    1e-9,
                );
                continue;
            }
            let column = column(&study, name).into_iter();
            let xs: Vec<f64> = column
                .map(|value| value.unwrap().as_f64().unwrap())
                .collect();
            close(
                rank::pearson(&xs, &values).unwrap(),
                expected["pearson"].as_f64().unwrap(),
                1e-9,
            );
            close(
                rank::spearman(&xs, &values).unwrap(),
                expected["spearman"].as_f64().unwrap(),
                1e-9,
            );
        }
    }
}

#[test]
fn shares_of_variance_agree_with_optuna() {
    for study in truth()["studies"].as_array().unwrap() {
        let (study, values) = finished(study);
        let expected = study["fanova"]["mean_over_seeds"].as_object().unwrap();
        let (mut columns, mut groups) = (Vec::new(), BTreeMap::new());
        for name in expected.keys() {
            let begin = columns.len();
            if let Some(choices) = study["parameters"][name]["choices"].as_array() {
                let codes = codes(&study, name);
                for choice in 0..choices.len() {
                    let marks = codes
                        .iter()
                        .map(|code| f64::from(u8::from(*code == u32::try_from(choice).ok())));
                    columns.push((marks.collect::<Vec<f64>>(), (0.0, 1.0)));
                }
            } else {
                let column = column(&study, name).into_iter();
                let bound = |key: &str| study["parameters"][name][key].as_f64().unwrap();
                let values = column.map(|value| value.unwrap().as_f64().unwrap());
                columns.push((values.collect(), (bound("low"), bound("high"))));
            }
            groups.insert(name, (begin..columns.len()).collect::<Vec<usize>>());
        }
        let (columns, bounds): (Vec<Vec<f64>>, Vec<(f64, f64)>) = columns.into_iter().unzip();
        let forest = Forest::new(&columns, &values, &|| false).unwrap();
        let space = Space { bounds };
        for (name, group) in groups {
            let shares = forest.trees.iter().map(|tree| {
                let boxes = Boxes::new(tree, &space);
                boxes.marginal_variance(&group) / boxes.variance()
            });
            let mean = shares.sum::<f64>() / forest.trees.len() as f64;
            let expected = expected[name].as_f64().unwrap();
            let deviation = study["fanova"]["sd_over_seeds"][name].as_f64().unwrap();
            close(mean, expected, 4.0 * deviation + 0.08);
        }
    }
}

/// The study `mixed` as columns, with results.
fn mixed() -> (Vec<(String, Vec<CellValue>)>, Vec<CellValue>) {
    let truth = truth();
    let study = truth["studies"]
        .as_array()
        .unwrap()
        .iter()
        .find(|study| study["name"] == "mixed")
        .unwrap()
        .clone();
    let cell = |value: Option<Value>| match value {
        Some(Value::Number(number)) => CellValue::Number(number.as_f64().unwrap()),
        Some(Value::String(text)) => CellValue::Text(text),
        Some(Value::Bool(truth)) => CellValue::Truth(truth),
        _ => CellValue::Missing,
    };
    let names = study["parameters"].as_object().unwrap().keys();
    let columns = names.map(|name| {
        (
            name.clone(),
            column(&study, name).into_iter().map(cell).collect(),
        )
    });
    let results = study["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| cell(Some(trial["value"].clone())));
    (columns.collect(), results.collect())
}

fn judged(
    columns: &[(String, Vec<CellValue>)],
    results: &[CellValue],
    measure: Option<Measure>,
) -> Importance {
    let columns: Vec<NamedColumn<'_>> = columns
        .iter()
        .map(|(name, cells)| NamedColumn {
            name,
            cells,
            domain: None,
        })
        .collect();
    let question = Question {
        columns: &columns,
        results,
        direction: Some(Direction::Less),
    };
    importance(&question, measure, &|| false).unwrap()
}

#[test]
fn the_learning_rate_decides_on_the_scale_of_its_axis() {
    let (columns, results) = mixed();
    let importance = judged(&columns, &results, None);
    assert_eq!(
        (importance.measure, importance.runs, importance.left_out),
        (Some(Measure::Variance), 109, 11)
    );
    assert_eq!(importance.bars[0].name, "lr");
    assert!(
        importance.bars[0].value.unwrap() > 0.4,
        "{:?}",
        importance.bars
    );
    let others = importance
        .bars
        .iter()
        .filter(|bar| bar.name != "lr" && bar.name != "nesterov");
    for bar in others {
        assert!(bar.value.unwrap() < 0.2, "{bar:?}");
    }
    let best = importance.bars[0].best.unwrap();
    assert!(
        best.runs * 5 >= best.of * 4 && best.from < best.to,
        "{best:?}"
    );
    assert_eq!(importance.pairs.len(), 5);
    assert_eq!(
        judged(&columns, &results, None),
        importance,
        "the same runs give the same bars"
    );
}

#[test]
fn a_question_ends_soon_after_it_was_withdrawn() {
    let (columns, results) = mixed();
    let columns: Vec<NamedColumn<'_>> = columns
        .iter()
        .map(|(name, cells)| NamedColumn {
            name,
            cells,
            domain: None,
        })
        .collect();
    let question = Question {
        columns: &columns,
        results: &results,
        direction: Some(Direction::Less),
    };
    for after in [0, 1, 30, 70, 140] {
        let asked = std::cell::Cell::new(0);
        let is_cancelled = || {
            asked.set(asked.get() + 1);
            asked.get() > after
        };
        assert_eq!(importance(&question, None, &is_cancelled), None, "{after}");
        assert_eq!(asked.get(), after + 1, "nothing is done after it");
    }
    assert_eq!(pair(&question, ["lr", "opt"], &|| true), None);
}

#[test]
fn cells_of_a_pair_are_the_mean_prediction_of_the_forest() {
    let (columns, results) = mixed();
    let columns: Vec<NamedColumn<'_>> = columns
        .iter()
        .map(|(name, cells)| NamedColumn {
            name,
            cells,
            domain: None,
        })
        .collect();
    let question = Question {
        columns: &columns,
        results: &results,
        direction: Some(Direction::Less),
    };
    let answer = pair(&question, ["lr", "opt"], &|| false).unwrap();
    assert_eq!(
        (answer.axes[0].edges.len(), answer.axes[0].is_log),
        (33, true)
    );
    let choices = answer.axes[1].choices.len();
    assert_eq!(answer.cells.len(), 32 * choices);
    // Each row of an option has the mean of the runs with it within the range of all results.
    let finite: Vec<f64> = results
        .iter()
        .filter_map(CellValue::number)
        .filter(|result| result.is_finite())
        .collect();
    let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(
        answer
            .cells
            .iter()
            .all(|cell| (least..=greatest).contains(cell)),
        "{:?}",
        answer.cells
    );
    // The other order of parameters: the same cells, transposed.
    let turned = pair(&question, ["opt", "lr"], &|| false).unwrap();
    for row in 0..choices {
        for column in 0..32 {
            let (a, b) = (
                answer.cells[row * 32 + column],
                turned.cells[column * choices + row],
            );
            assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        }
    }
}

#[test]
fn each_column_without_a_bar_has_a_reason() {
    let (mut columns, results) = mixed();
    let runs = results.len();
    columns.push(("epochs".to_owned(), vec![CellValue::Number(3.0); runs]));
    let names = (0..runs).map(|index| CellValue::Text(format!("run {index}")));
    columns.push(("name".to_owned(), names.collect()));
    let copy = columns[0].1.iter().map(|cell| match cell {
        CellValue::Number(number) => CellValue::Number(number * 2.0),
        other => other.clone(),
    });
    columns.push(("copy".to_owned(), copy.collect()));
    let importance = judged(&columns, &results, Some(Measure::Rank));
    let bar = |name: &str| importance.bars.iter().find(|bar| bar.name == name);
    assert_eq!(bar("epochs").unwrap().reason, Some(Reason::Constant));
    assert_eq!(bar("name").unwrap().reason, Some(Reason::NamesEachRun));
    assert_eq!(bar("copy"), None);
    assert_eq!(bar(&columns[0].0.clone()).unwrap().same_as, ["copy"]);
    let linear = judged(&columns, &results, Some(Measure::Linear));
    let opt = linear.bars.iter().find(|bar| bar.name == "opt").unwrap();
    assert_eq!((opt.value, opt.reason), (None, Some(Reason::NoNumber)));
}

#[test]
fn few_runs_are_too_few_to_tell() {
    let cells: Vec<CellValue> = (0..7)
        .map(|index| CellValue::Number(f64::from(index)))
        .collect();
    let columns = [("lr".to_owned(), cells.clone())];
    let importance = judged(&columns, &cells, None);
    assert_eq!(
        (importance.measure, importance.runs, importance.bars.len()),
        (None, 7, 1)
    );
    assert_eq!(importance.bars[0].value, None);
    let linear = judged(&columns, &cells, Some(Measure::Linear));
    assert!((linear.bars[0].value.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(judged(&[], &[], None), Importance::default());
}

#[test]
fn results_that_are_not_finite_do_not_enter_and_are_counted() {
    let lr: Vec<CellValue> = (1..=40)
        .map(|index| CellValue::Number(f64::from(index)))
        .collect();
    let mut loss = lr.clone();
    loss[3] = CellValue::Number(f64::NAN);
    loss[4] = CellValue::Number(f64::INFINITY);
    loss[5] = CellValue::Missing;
    for measure in [
        Measure::Variance,
        Measure::BestTenth,
        Measure::Rank,
        Measure::Linear,
    ] {
        let importance = judged(&[("lr".to_owned(), lr.clone())], &loss, Some(measure));
        assert_eq!((importance.runs, importance.left_out), (37, 3));
        assert!(
            importance.bars[0].value.unwrap() > 0.9,
            "{measure:?}: {:?}",
            importance.bars
        );
    }
}
