//! Rules of the guided diagnosis on small graphs and hyper-parameters: faults are reported, and lookalikes are not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use trainscope_analysis::diagnosis::{Examiner, Framework, Remark, Rule, State};
use trainscope_analysis::watchpoint::{CONDITIONS, Context, Evaluator, Findings, Watchpoints};
use trainscope_format::graph::{Dimension, Edge, Node, NodeKind, TensorType};
use trainscope_format::hparams::{HparamValue, SessionStart};
use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};
use trainscope_format::{Graph, Hparams, Lineage};

/// Nodes as `name kind-or-op input,input [sizes]`; `#` is a parameter, `=` a constant, `>` an input.
fn graph(lines: &[&str]) -> Graph {
    let mut nodes: Vec<Node> = Vec::new();
    for line in lines {
        let mut parts = line.split_whitespace();
        let name = parts.next().unwrap();
        let op = parts.next().unwrap();
        let inputs = parts.next().unwrap_or("-");
        let shape = parts.next().map(|sizes| {
            let sizes = sizes.trim_matches(['[', ']']);
            let sizes = sizes.split(',').filter(|size| !size.is_empty());
            sizes
                .map(|size| Dimension::Size(size.parse().unwrap()))
                .collect()
        });
        let inputs = inputs
            .split(',')
            .filter(|name| *name != "-")
            .map(|name| Edge {
                node: nodes
                    .iter()
                    .position(|node| node.name == name)
                    .map(|at| u32::try_from(at).unwrap()),
                ..Edge::default()
            });
        let inputs = inputs.collect();
        nodes.push(Node {
            name: name.to_owned(),
            kind: match op {
                "#" => NodeKind::Parameter,
                "=" => NodeKind::Constant,
                ">" => NodeKind::Input,
                _ => NodeKind::Operation,
            },
            op_type: op.to_owned(),
            inputs,
            outputs: vec![TensorType {
                dtype: "f32".to_owned(),
                shape,
            }],
            ..Node::default()
        });
    }
    Graph {
        nodes,
        ..Graph::default()
    }
}

fn remark(graph: &Graph, rule: Rule) -> Remark {
    let mut examiner = Examiner::default();
    examiner.learn(0, &Context::Graph(graph));
    let mut all = examiner.remarks(Framework::Python).into_iter();
    all.find(|remark| remark.rule == rule).unwrap()
}

fn state(lines: &[&str], rule: Rule) -> State {
    remark(&graph(lines), rule).state
}

/// A classifier whose loss is fed by `last` through a reshape.
fn classifier(last: &[&str], loss: &str) -> Graph {
    let mut lines = vec![
        "x > - [8,4]",
        "fc.weight # - [3,4]",
        "fc.bias # - [3]",
        "scores aten::linear x,fc.weight,fc.bias [8,3]",
    ];
    lines.extend(last);
    let out = last
        .last()
        .map_or("scores", |line| line.split(' ').next().unwrap());
    let (view, loss) = (
        format!("view aten::view {out} [8,3]"),
        format!("loss {loss} view,x []"),
    );
    lines.extend([&*view, &*loss]);
    graph(&lines)
}

#[test]
fn a_loss_wants_what_it_wants() {
    // Operations after the scores, the last of which is the loss.
    for case in [
        "aten::cross_entropy_loss: Fine",
        "aten::softmax > aten::cross_entropy_loss: Fault",
        "aten::log_softmax > aten::cross_entropy_loss: Note",
        "aten::relu > aten::cross_entropy_loss: Fault",
        "Sigmoid > SoftmaxCrossEntropyWithLogits: Fault",
        "SparseSoftmaxCrossEntropyWithLogits: Fine",
        "aten::log_softmax > aten::nll_loss_nd: Fine",
        "aten::nll_loss_nd: Fault",
        "aten::softmax > aten::nll_loss_nd: Fault",
        "aten::softmax > aten::log > aten::nll_loss: Fine",
        "aten::sigmoid > aten::binary_cross_entropy: Fine",
        "aten::binary_cross_entropy: Error",
        "aten::relu > BCELoss: Error",
        "aten::sigmoid > aten::binary_cross_entropy_with_logits: Fault",
        "aten::binary_cross_entropy_with_logits: Fine",
        "MyOwnOp > aten::nll_loss: Unknown",
        "aten::softmax > aten::softmax > aten::mse_loss: Fault",
    ] {
        let (chain, expected) = case.rsplit_once(": ").unwrap();
        let mut operations: Vec<&str> = chain.split(" > ").collect();
        let loss = operations.pop().unwrap();
        let names = ["scores", "p", "q"];
        let last = names
            .windows(2)
            .zip(operations)
            .map(|(name, op)| format!("{} {op} {}", name[1], name[0]));
        let last: Vec<String> = last.collect();
        let last: Vec<&str> = last.iter().map(|line| &**line).collect();
        let remark = remark(&classifier(&last, loss), Rule::LossActivation);
        assert_eq!(
            format!("{:?}", remark.state),
            expected,
            "{case}: {remark:?}"
        );
        let is_found = remark.state > State::Fine;
        assert_eq!(
            (remark.places > 0, remark.node.is_some()),
            (is_found, is_found)
        );
        assert!(!remark.sentence.en.is_empty() && !remark.sentence.zh.is_empty());
    }
    // A softmax inside the model does not count as one before a loss, and the backward pass is ignored.
    let attention = [
        "x >",
        "s Softmax x",
        "v MatMul s,x",
        "t Softmax v",
        "o MatMul t,x",
        "loss SoftmaxCrossEntropy o,x",
    ];
    assert_eq!(state(&attention, Rule::LossActivation), State::Fine);
    let gradients = [
        "x >",
        "o MatMul x,x",
        "loss NLLLoss o,x",
        "Gradients/p Softmax o",
        "Gradients/l NLLLoss Gradients/p,x",
    ];
    assert!(
        remark(&graph(&gradients), Rule::LossActivation)
            .sentence
            .en
            .contains("log_softmax is missing")
    );
    let no_loss = ["x >", "w # -", "o MatMul x,w"];
    let unknown = remark(&graph(&no_loss), Rule::LossActivation);
    assert_eq!(
        (unknown.state, unknown.record.is_empty()),
        (State::Unknown, false)
    );
}

#[test]
fn a_bias_before_a_normalisation_is_useless_only_if_nothing_else_reads_it() {
    let head = [
        "x > - [8,3,9,9]",
        "c.weight # - [4,3,3,3]",
        "c.bias # - [4]",
    ];
    for case in [
        "c aten::_convolution x,c.weight,c.bias; n aten::batch_norm c; r aten::relu n: Note",
        "c Conv x,c.weight; n BatchNormalization c: Fine",
        "c Conv2D x,c.weight; b BiasAdd c,c.bias; n BatchNorm b: Note",
        // A skip connection reads it too; an activation between keeps it useful; layer norm cancels something else.
        "c Conv x,c.weight,c.bias; n BatchNormalization c; a Add n,c: Fine",
        "c Conv x,c.weight,c.bias; r Relu c; n BatchNormalization r: Fine",
        "c Conv x,c.weight,c.bias; n LayerNormalization c: Fine",
        // A constant in the place of the bias is not a bias: traced graphs write `None` this way.
        "k = -; c aten::_convolution x,c.weight,k; n aten::batch_norm c: Fine",
        // A residual is added, not a bias.
        "m MatMul x,c.weight [8,4]; a Add m,x [8,4]; n BatchNormalization a: Fine",
    ] {
        let (lines, expected) = case.rsplit_once(": ").unwrap();
        let all: Vec<&str> = head.into_iter().chain(lines.split("; ")).collect();
        let state = state(&all, Rule::UselessBias);
        assert_eq!(format!("{state:?}"), expected, "{lines}");
    }
}

#[test]
fn parameters_that_are_only_handed_on_are_unused() {
    let used = ["x >", "a.weight # -", "l Load a.weight", "m MatMul x,l"];
    assert_eq!(state(&used, Rule::UnusedParameters), State::Fine);
    let loaded = [
        "x >",
        "a.weight # -",
        "b.weight # -",
        "c.bias # -",
        "l Load a.weight",
        "m MatMul x,l",
        "k Load b.weight",
        "t MakeTuple k,l",
        "u UpdateState x,t",
        "d Depend m,c.bias",
    ];
    let found = remark(&graph(&loaded), Rule::UnusedParameters);
    assert_eq!(
        (found.state, found.places, found.node.as_deref()),
        (State::Fault, 2, Some("b.weight"))
    );
    // Operations that join several parameters are users, and so are unknown operations.
    let together = [
        "a.weight # -",
        "b.weight # -",
        "t MakeTuple a.weight,b.weight",
        "c Concat t",
    ];
    assert_eq!(state(&together, Rule::UnusedParameters), State::Fine);
    // Inputs, counters and the state of an optimizer are not parameters of the model.
    let others = [
        "x >",
        "a.weight # -",
        "m MatMul x,a.weight",
        "label # -",
        "global_step # -",
        "moments.a.weight # -",
    ];
    assert_eq!(state(&others, Rule::UnusedParameters), State::Fine);
    assert_eq!(
        state(
            &["x >", "w prim::GetAttr -", "m aten::mm x,w"],
            Rule::UnusedParameters
        ),
        State::Unknown
    );
}

#[test]
fn a_column_less_a_row_is_an_accident_where_its_mean_is_taken() {
    let loss = |a: &str, b: &str, tail: &[&'static str]| {
        let (a, b) = (format!("a > - {a}"), format!("b > - {b}"));
        let mut lines = vec![&*a, &*b, "d Sub a,b"];
        lines.extend(tail);
        state(&lines, Rule::Broadcast)
    };
    let mean = &["s Square d", "m ReduceMean s"][..];
    assert_eq!(loss("[32,1]", "[32]", mean), State::Fault);
    assert_eq!(loss("[32]", "[32,1]", mean), State::Fault);
    assert_eq!(loss("[32,1]", "[32,1]", mean), State::Fine);
    assert_eq!(loss("[32,8]", "[8]", mean), State::Fine);
    assert_eq!(loss("[1,1]", "[1]", mean), State::Fine);
    // Intended tables have other sizes, the same number of axes, or do not end in a mean.
    assert_eq!(loss("[32,1]", "[16]", mean), State::Fine);
    assert_eq!(loss("[32,1]", "[1,32]", mean), State::Fine);
    assert_eq!(
        loss("[32,1]", "[32]", &["e Exp d", "v MatMul e,a"]),
        State::Fine
    );
    let mse = ["a > - [32,1]", "b > - [32]", "loss aten::mse_loss a,b"];
    let found = remark(&graph(&mse), Rule::Broadcast);
    assert_eq!(
        (found.state, found.node.as_deref()),
        (State::Fault, Some("loss"))
    );
    assert!(found.sentence.en.contains("[32, 1]") && found.sentence.zh.contains("[32]"));
    // Distances within one tensor.
    let distances = [
        "a > - [32]",
        "c Reshape a [32,1]",
        "d Sub c,a",
        "m ReduceMean d",
    ];
    assert_eq!(state(&distances, Rule::Broadcast), State::Fine);
    assert_eq!(
        state(&["a > -", "b > -", "loss MSELoss a,b"], Rule::Broadcast),
        State::Unknown
    );
}

fn settings(values: &[(&str, HparamValue)]) -> Remark {
    let mut examiner = Examiner::default();
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let session = Hparams::SessionStart(SessionStart {
        values,
        ..SessionStart::default()
    });
    examiner.learn(0, &Context::Hparams(&session));
    examiner.remarks(Framework::Python).remove(0)
}

#[test]
fn settings_that_cannot_train_are_faults_and_unusual_ones_are_notes() {
    use HparamValue::{Number, Text};
    for (name, value, expected) in [
        ("lr", 1e-3, State::Fine),
        ("lr", 0.0, State::Fault),
        ("learning_rate", -0.1, State::Fault),
        ("optimizer/lr", f64::NAN, State::Fault),
        ("lr", 1e8, State::Fault),
        ("lr", 30.0, State::Note),
        ("momentum", 1.0, State::Fault),
        ("momentum", 0.9, State::Fine),
        ("dropout", 0.0, State::Fine),
        ("batch_size", 0.0, State::Fault),
        ("batch_size", 1.0, State::Fine),
        ("weight_decay", 0.9, State::Note),
        ("weight_decay", -1e-4, State::Fault),
        ("hidden", -1.0, State::Unknown),
    ] {
        let remark = settings(&[(name, Number(value))]);
        assert_eq!(
            remark.state, expected,
            "{name} {value}: {}",
            remark.sentence.en
        );
    }
    assert_eq!(
        settings(&[("optimizer", Text("AdamW".into())), ("lr", Number(0.5))]).state,
        State::Note
    );
    assert_eq!(
        settings(&[
            ("optimizer", Text("SGD".into())),
            ("lr", Text("0.5".into()))
        ])
        .state,
        State::Fine
    );
    assert_eq!(settings(&[]).state, State::Unknown);
    // One sample and a batch normalisation.
    let mut examiner = Examiner::default();
    let session = SessionStart {
        values: vec![("batch_size".into(), Number(1.0))],
        ..SessionStart::default()
    };
    examiner.learn(0, &Context::Hparams(&Hparams::SessionStart(session)));
    examiner.learn(0, &Context::Graph(&graph(&["x >", "n BatchNorm x"])));
    assert_eq!(examiner.remarks(Framework::Python)[0].state, State::Fault);
}

fn dataset(
    op: &str,
    operations: &[&str],
    sampler: Option<&str>,
    child: Option<DatasetNode>,
) -> DatasetNode {
    let named = |key: &str, name: &str| DatasetOperation {
        parameters: vec![(key.to_owned(), LineageValue::Text(name.to_owned()))],
        ..DatasetOperation::default()
    };
    DatasetNode {
        parameters: vec![("op_type".to_owned(), LineageValue::Text(op.to_owned()))],
        operations: operations
            .iter()
            .map(|name| named("tensor_op_name", name))
            .collect(),
        sampler: sampler.map(|name| named("sampler_name", name)),
        children: child.into_iter().collect(),
    }
}

fn prepared(train: DatasetNode, evaluated: Option<DatasetNode>) -> [State; 2] {
    let mut examiner = Examiner::default();
    for root in [Some(train), evaluated].into_iter().flatten() {
        examiner.learn(0, &Context::Lineage(&Lineage::Dataset(root)));
    }
    let remarks = examiner.remarks(Framework::Python);
    [Rule::Shuffling, Rule::Scaling].map(|rule| {
        let remark = remarks.iter().find(|remark| remark.rule == rule);
        remark.map_or(State::Unknown, |remark| remark.state)
    })
}

#[test]
fn samples_are_shuffled_and_scaled_or_it_is_said() {
    let source = |sampler| dataset("MnistDataset", &[], Some(sampler), None);
    let in_order = || source("SequentialSampler");
    assert_eq!(prepared(in_order(), None), [State::Note, State::Note]);
    assert_eq!(
        prepared(source("RandomSampler"), None),
        [State::Fine, State::Note]
    );
    let map = dataset("Map", &["Resize", "Rescale"], None, Some(in_order()));
    let shuffled = dataset("Shuffle", &[], None, Some(map));
    assert_eq!(prepared(shuffled.clone(), None), [State::Fine, State::Fine]);
    // The evaluation pipeline comes later and in order.
    assert_eq!(
        prepared(shuffled, Some(in_order())),
        [State::Fine, State::Fine]
    );
    assert_eq!(
        prepared(dataset("Generator", &[], None, None), None),
        [State::Unknown; 2]
    );
    let lines = |framework| {
        let nothing = Examiner::default().remarks(framework);
        assert!(nothing.iter().all(|one| one.state == State::Unknown));
        let [settings, graph, pipeline] = [0, 1, 2].map(|at| nothing[at].record);
        [settings, graph, pipeline]
    };
    // Each framework has a line; `PyTorch` has no line that records a pipeline.
    let [settings, graph, pipeline] = lines(Framework::MindSpore);
    assert!(
        [settings, graph, pipeline]
            .iter()
            .all(|line| line.starts_with("SummaryCollector("))
    );
    let [settings, graph, pipeline] = lines(Framework::Collector);
    assert!(
        [settings, graph, pipeline]
            .iter()
            .all(|line| line.starts_with("run.") && line.contains("Rust: collector."))
    );
    let [settings, graph, pipeline] = lines(Framework::Python);
    assert!(settings.starts_with("writer.") && graph.starts_with("writer."));
    assert_eq!(pipeline, "");
}

#[test]
fn odd_graphs_are_looked_at_without_harm() {
    let mut cyclic = graph(&[
        "a Reshape -",
        "b Reshape a",
        "loss NLLLoss b",
        "n BatchNorm a",
        "w.bias # -",
        "l Load w.bias",
    ]);
    cyclic.nodes[0].inputs = vec![Edge {
        node: Some(1),
        ..Edge::default()
    }];
    cyclic.nodes[5].inputs.push(Edge {
        node: Some(99),
        ..Edge::default()
    });
    cyclic.nodes[4].inputs.push(Edge {
        node: Some(5),
        ..Edge::default()
    });
    let mut examiner = Examiner::default();
    examiner.learn(0, &Context::Graph(&cyclic));
    examiner.learn(0, &Context::Graph(&Graph::default()));
    assert_eq!(examiner.remarks(Framework::Python).len(), 7);
}

#[test]
fn each_rule_has_a_condition_of_its_name() {
    for rule in Rule::ALL {
        let named = CONDITIONS
            .iter()
            .filter(|condition| condition.id == rule.name());
        let rules: Vec<Option<Rule>> = named.map(|condition| condition.rule).collect();
        assert_eq!(rules, [Some(rule)]);
    }
}

/// Findings of a run with these hyper-parameters, a softmax before a loss that applies one itself, and this loss
/// curve.
fn judged(rate: f64, loss: impl Fn(i64) -> f64) -> Findings {
    let graph = classifier(&["p aten::softmax scores"], "aten::cross_entropy_loss");
    let session = SessionStart {
        values: vec![("learning_rate".to_owned(), HparamValue::Number(rate))],
        ..SessionStart::default()
    };
    let mut examiner = Examiner::default();
    examiner.learn(0, &Context::Graph(&graph));
    examiner.learn(0, &Context::Hparams(&Hparams::SessionStart(session)));
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for step in 10..60 {
        evaluator.scalar(0, "loss", step, 0.0, loss(step));
    }
    evaluator.findings_with(&examiner.remarks(Framework::Python))
}

/// A fault of the program exists before the first step. It is the first cause only of hits that it can cause.
#[test]
fn a_fault_of_the_program_comes_first_only_where_it_can_be_the_cause() {
    let first = |findings: &Findings| findings.first_hit().map(|hit| hit.condition.id.to_owned());
    let flat = judged(0.1, |_| 1.0);
    assert_eq!(first(&flat).as_deref(), Some("loss_activation"));
    let hit = flat.first_hit().unwrap();
    assert_eq!(
        (hit.step, hit.last_step, hit.node.as_deref()),
        (10, 59, Some(&*hit.tensor))
    );
    // Two consecutive softmax make small gradients, but no NaN.
    let nan = |step| if step < 40 { 1.0 } else { f64::NAN };
    let diverged = judged(0.1, nan);
    assert_eq!(first(&diverged).as_deref(), Some("loss_nan"));
    let counted = &diverged.first_hit().unwrap().measures()[0].quantity;
    assert_eq!(
        counted.en, "NaN or ±∞ points",
        "points of a curve are no elements"
    );
    // A learning rate of a million does.
    let both = judged(1e6, nan);
    assert_eq!(first(&both).as_deref(), Some("settings"));
    assert!(
        both.hits
            .iter()
            .any(|hit| hit.condition.id == "loss_activation")
    );
}
