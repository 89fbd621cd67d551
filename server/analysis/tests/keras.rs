//! Compiled Keras models: each combination of a last activation and a loss, and hyper-parameters.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use trainscope_analysis::diagnosis::{Examiner, Framework, Remark, Rule, State};
use trainscope_analysis::watchpoint::Context;
use trainscope_format::Graph;
use trainscope_format::body::GraphFormat;

/// A layer of a sequential model.
fn layer(class: &str, name: &str, config: &str) -> String {
    format!(r#"{{"class_name": "{class}", "config": {{"name": "{name}", {config}}}}}"#)
}

fn dense(name: &str, units: u32, activation: &str) -> String {
    let config = format!(r#""units": {units}, "activation": "{activation}", "use_bias": true"#);
    layer("Dense", name, &config)
}

/// A compiled sequential model.
fn compiled(layers: &[String], loss: &str, optimizer: &str) -> Graph {
    let json = format!(
        r#"{{"class_name": "Sequential", "keras_version": "3.15.1", "config": {{"name": "net", "layers": [{}]}},
            "compile_config": {{"optimizer": {optimizer}, "loss": {loss}, "loss_weights": null}}}}"#,
        layers.join(", ")
    );
    Graph::read(GraphFormat::KerasJson, json.as_bytes()).unwrap()
}

fn remark(graph: &Graph, rule: Rule) -> Remark {
    let mut examiner = Examiner::default();
    examiner.learn(0, &Context::Graph(graph));
    let mut all = examiner.remarks(Framework::Keras).into_iter();
    all.find(|remark| remark.rule == rule).unwrap()
}

const ADAM: &str = r#"{"class_name": "Adam", "config": {"learning_rate": 0.0010000000474974513}}"#;

/// The notations of a loss: its name, its function, and the class with its configuration.
fn written(name: &str, class: &str) -> [String; 3] {
    [
        format!("\"{name}\""),
        format!(r#"{{"module": "builtins", "class_name": "function", "config": "{name}"}}"#),
        format!(
            r#"{{"class_name": "{class}", "config": {{"name": "{name}", "from_logits": false, "label_smoothing": 0.0}}}}"#
        ),
    ]
}

#[test]
fn a_loss_fits_the_last_activation_or_it_is_said() {
    let (classes, sparse) = (
        ("categorical_crossentropy", "CategoricalCrossentropy"),
        (
            "sparse_categorical_crossentropy",
            "SparseCategoricalCrossentropy",
        ),
    );
    let binary = ("binary_crossentropy", "BinaryCrossentropy");
    let (square, absolute) = (
        ("mean_squared_error", "MeanSquaredError"),
        ("mean_absolute_error", "MeanAbsoluteError"),
    );
    for (loss, units, activation, expected) in [
        (classes, 3, "softmax", State::Fine),
        (sparse, 10, "softmax", State::Fine),
        (binary, 1, "sigmoid", State::Fine),
        (binary, 5, "sigmoid", State::Fine),
        (binary, 1, "hard_sigmoid", State::Fine),
        (square, 1, "linear", State::Fine),
        (square, 4, "sigmoid", State::Fine),
        (absolute, 2, "tanh", State::Fine),
        (classes, 1, "softmax", State::Error),
        (binary, 1, "softmax", State::Error),
        (square, 1, "softmax", State::Error),
        (sparse, 1, "sigmoid", State::Error),
        (classes, 1, "linear", State::Error),
        (classes, 3, "sigmoid", State::Fault),
        (sparse, 4, "sigmoid", State::Fault),
        (classes, 3, "relu", State::Error),
        (sparse, 3, "linear", State::Error),
        (classes, 3, "tanh", State::Error),
        (classes, 3, "elu", State::Error),
        (binary, 1, "relu", State::Error),
        (binary, 1, "linear", State::Error),
        (binary, 1, "tanh", State::Error),
        (binary, 3, "softmax", State::Note),
        (square, 3, "softmax", State::Fault),
        (absolute, 2, "softmax", State::Fault),
        (square, 1, "relu", State::Note),
        // A function of the program may do anything.
        (classes, 3, "my_own", State::Unknown),
    ] {
        for loss in written(loss.0, loss.1) {
            let plain = [dense("a", 8, "relu"), dense("b", units, activation)];
            let activation = format!(r#""activation": "{activation}""#);
            // A separate activation after a layer that changes nothing.
            let apart = [
                dense("a", 8, "relu"),
                dense("b", units, "linear"),
                layer("Dropout", "drop", r#""rate": 0.5"#),
                layer("Activation", "act", &activation),
            ];
            for layers in [&plain[..], &apart[..]] {
                let remark = remark(&compiled(layers, &loss, ADAM), Rule::LossActivation);
                assert_eq!(remark.state, expected, "{layers:?} {loss}: {remark:?}");
                assert!(!remark.sentence.en.is_empty() && !remark.sentence.zh.is_empty());
            }
        }
    }
}

#[test]
fn a_loss_of_scores_wants_scores() {
    for (class, units, activation, expected) in [
        ("SparseCategoricalCrossentropy", 10, "linear", State::Fine),
        ("BinaryCrossentropy", 1, "linear", State::Fine),
        ("SparseCategoricalCrossentropy", 10, "softmax", State::Fault),
        ("CategoricalCrossentropy", 10, "relu", State::Fault),
        ("BinaryCrossentropy", 1, "sigmoid", State::Fault),
        ("SparseCategoricalCrossentropy", 1, "linear", State::Error),
    ] {
        let loss = format!(r#"{{"class_name": "{class}", "config": {{"from_logits": true}}}}"#);
        let layers = [dense("a", 8, "relu"), dense("b", units, activation)];
        let remark = remark(&compiled(&layers, &loss, ADAM), Rule::LossActivation);
        assert_eq!(remark.state, expected, "{class} {activation}: {remark:?}");
    }
}

#[test]
fn unknown_losses_layers_and_models_that_were_not_compiled_are_not_judged() {
    let layers = [dense("a", 3, "softmax")];
    for loss in [
        "null",
        r#""loss""#,
        r#"{"class_name": "__lambda__", "config": {"value": ["x"]}}"#,
    ] {
        let remark = remark(&compiled(&layers, loss, ADAM), Rule::LossActivation);
        assert_eq!(remark.state, State::Unknown, "{loss}");
    }
    let lambda = layer(
        "Dense",
        "b",
        r#""units": 3, "activation": {"class_name": "__lambda__", "config": {"value": ["x"]}}"#,
    );
    let wrapped = layer(
        "TimeDistributed",
        "t",
        r#""layer": {"class_name": "Sequential", "config": {"layers": []}}"#,
    );
    let limited = layer("ReLU", "r", r#""max_value": 1.0, "negative_slope": 0.0"#);
    for last in [lambda, wrapped, limited] {
        let graph = compiled(
            &[dense("a", 8, "relu"), last],
            r#""categorical_crossentropy""#,
            ADAM,
        );
        let remark = remark(&graph, Rule::LossActivation);
        assert_eq!(remark.state, State::Unknown, "{remark:?}");
    }
    let sequence = layer(
        "TimeDistributed",
        "t",
        r#""layer": {"class_name": "Dense", "config": {"units": 5, "activation": "softmax"}}"#,
    );
    let graph = compiled(&[sequence], r#""sparse_categorical_crossentropy""#, ADAM);
    assert_eq!(remark(&graph, Rule::LossActivation).state, State::Fine);
}

/// Convolution, normalisation and activation as in residual networks: none of these layers follows another one
/// directly.
#[test]
fn layers_without_activation_between_are_found_along_the_edges() {
    let conv = |name: &str, activation: &str| {
        let config = format!(r#""filters": 8, "activation": "{activation}", "use_bias": true"#);
        layer("Conv2D", name, &config)
    };
    let norm = |name: &str| layer("BatchNormalization", name, r#""axis": 3"#);
    let pool = layer("MaxPooling2D", "pool", r#""strides": [2, 2]"#);
    let flat = layer("Flatten", "flat", r#""trainable": true"#);
    let state = |layers: &[String]| {
        let graph = compiled(layers, r#""mse""#, ADAM);
        remark(&graph, Rule::LinearLayers).state
    };
    assert_eq!(
        state(&[dense("a", 4, "linear"), dense("b", 1, "linear")]),
        State::Note
    );
    let dropped = layer("Dropout", "d", r#""rate": 0.5"#);
    assert_eq!(
        state(&[dense("a", 4, "linear"), dropped, dense("b", 1, "linear")]),
        State::Note
    );
    assert_eq!(
        state(&[conv("a", "linear"), flat.clone(), dense("b", 1, "linear")]),
        State::Note
    );
    for layers in [
        vec![dense("a", 4, "relu"), dense("b", 1, "linear")],
        vec![conv("a", "linear"), norm("n"), conv("b", "linear")],
        vec![
            conv("a", "linear"),
            pool,
            conv("b", "relu"),
            flat,
            dense("c", 1, "linear"),
        ],
    ] {
        assert_eq!(state(&layers), State::Fine, "{layers:?}");
    }
    // Branches of a functional model: a layer does not feed the one after it in the file.
    let branch = |name: &str, from: &str| {
        format!(
            r#"{{"class_name": "Dense", "name": "{name}", "config": {{"name": "{name}", "units": 4, "activation": "linear"}},
                "inbound_nodes": [[["{from}", 0, 0, {{}}]]]}}"#
        )
    };
    let input = r#"{"class_name": "InputLayer", "name": "x", "config": {"name": "x"}, "inbound_nodes": []}"#;
    let json = format!(
        r#"{{"class_name": "Functional", "keras_version": "3.1", "config": {{"layers": [{input}, {}, {}]}}}}"#,
        branch("a", "x"),
        branch("b", "x")
    );
    let graph = Graph::read(GraphFormat::KerasJson, json.as_bytes()).unwrap();
    assert_eq!(remark(&graph, Rule::LinearLayers).state, State::Fine);
}

#[test]
fn settings_of_the_optimizer_are_judged_as_they_were_written() {
    let layers = [dense("a", 8, "relu"), dense("b", 1, "linear")];
    let of = |optimizer: &str| {
        let graph = compiled(&layers, r#""mse""#, optimizer);
        remark(&graph, Rule::Settings)
    };
    // Keras stores the rate in single precision, and writes it in double.
    let rate = |class: &str, rate: f32| {
        let rate = f64::from(rate);
        of(&format!(
            r#"{{"class_name": "{class}", "config": {{"learning_rate": {rate}, "momentum": 0.9}}}}"#
        ))
    };
    assert_eq!(rate("Adam", 0.1).state, State::Fine);
    assert_eq!(rate("Adam", 0.3).state, State::Note);
    assert!(rate("Adam", 0.3).sentence.en.contains("is 0.3:"));
    assert_eq!(rate("SGD", 3.0).state, State::Fine);
    assert_eq!(rate("Adam", -1000.0).state, State::Fault);
    assert_eq!(rate("SGD", 0.0).state, State::Fault);
    let schedule = r#"{"class_name": "SGD", "config": {"learning_rate":
        {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 5000.0}}}}"#;
    assert_eq!(of(schedule).state, State::Fault);
    let dropped = [
        dense("a", 8, "relu"),
        layer("Dropout", "d", r#""rate": 1.0"#),
    ];
    let graph = compiled(&dropped, r#""mse""#, ADAM);
    let remark = remark(&graph, Rule::Settings);
    assert_eq!(remark.state, State::Fault);
    assert!(remark.sentence.en.contains("d/dropout_rate is 1"));
}
