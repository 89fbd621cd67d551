//! Rules about a graph of any framework, each linear in the size of the graph.

use trainscope_format::Graph;
use trainscope_format::graph::{Node, NodeKind};

use super::loss::loss_activation;
use super::operation::{Loss, OperationClass, attribute, is_parameter};
use super::recording::Missing;
use super::view::{MAX_HOPS, View};
use super::{Opinion, Rule, State};

/// Maximum number of operations between a difference and the mean of a loss.
const REDUCED_WITHIN: usize = 4;

pub(super) struct GraphResults {
    pub(super) opinions: Vec<(Rule, Opinion)>,
    pub(super) normalises_batches: bool,
}

pub(super) fn without_graph() -> Opinion {
    Opinion::unknown(
        "no graph was recorded; the structure of the model is not checked",
        "未记录计算图，因此无法判断模型结构",
        Missing::GraphWithLoss,
    )
}

/// Applies all rules to a graph.
pub(super) fn examine(graph: &Graph) -> GraphResults {
    let view = View::new(graph);
    let count = view.forward().count();
    if count == 0 {
        return GraphResults {
            opinions: Vec::new(),
            normalises_batches: false,
        };
    }
    GraphResults {
        opinions: vec![
            (Rule::LossActivation, loss_activation(&view)),
            (Rule::Broadcast, broadcast(&view)),
            (Rule::UnusedParameters, unused_parameters(&view)),
            (Rule::UselessBias, useless_bias(&view)),
            (Rule::LinearLayers, linear_layers(&view)),
        ],
        normalises_batches: view.forward().any(|at| {
            let plain = view.nodes[at].op_type.to_ascii_lowercase();
            view.does[at] == OperationClass::Normalises && !plain.contains("instance")
        }),
    }
}

/// A bias whose only user cancels it.
fn useless_bias(view: &View<'_>) -> Opinion {
    let mut found = Vec::new();
    let mut normalisations = 0_usize;
    for at in view
        .forward()
        .filter(|at| view.does[*at] == OperationClass::Normalises)
    {
        normalisations += 1;
        let Some(from) = view.origin(at, 0) else {
            continue;
        };
        let is_only_user = view.users[from].iter().all(|(user, _)| {
            let user = *user as usize;
            user == at || view.is_backward[user] || view.does[user] == OperationClass::Orders
        });
        if is_only_user && adds_bias(view, from) {
            found.push((from, at));
        }
    }
    if let Some(&(from, at)) = found.first() {
        let (bias, name) = (view.name(from), view.name(at));
        return Opinion::found(
            State::Note,
            Some(bias),
            found.len(),
            format!("the bias of {bias} is cancelled by {name}; set bias=False"),
            format!("{bias} 的偏置会被 {name} 抵消；可设 bias=False"),
        );
    }
    if normalisations == 0 {
        return Opinion::fine(
            "no normalization layers that would cancel a bias".to_owned(),
            "没有会抵消偏置的批归一化".to_owned(),
        );
    }
    Opinion::fine(
        "no bias is cancelled by a normalization layer".to_owned(),
        "归一化之前没有多余的偏置".to_owned(),
    )
}

/// Two layers without an activation between them: the product of two matrices is a matrix, and they are equivalent to
/// one layer. Edges count, not the order of layers.
fn linear_layers(view: &View<'_>) -> Opinion {
    let mut found = Vec::new();
    let mut layers = 0_usize;
    for at in view.forward().filter(|at| is_layer(view, *at)) {
        layers += 1;
        let Some(mut from) = view.origin(at, 0) else {
            continue;
        };
        if matches!(
            view.does[from],
            OperationClass::BiasAdd | OperationClass::Add
        ) && adds_bias(view, from)
        {
            let sum = (0..2).filter_map(|place| view.origin(from, place));
            let Some(layer) = sum.into_iter().find(|layer| is_layer(view, *layer)) else {
                continue;
            };
            from = layer;
        }
        let mut users = view.users[from].iter().map(|(user, _)| *user as usize);
        let is_shared = users
            .by_ref()
            .filter(|user| !view.is_backward[*user] && view.does[*user] != OperationClass::Orders)
            .count()
            > 1;
        if from != at && is_layer(view, from) && !is_shared {
            found.push((from, at));
        }
    }
    if let Some(&(from, at)) = found.first() {
        let (first, second) = (view.name(from), view.name(at));
        return Opinion::found(
            State::Note,
            Some(second),
            found.len(),
            format!(
                "there is no activation between {first} and {second}: both together can do no more than one linear layer"
            ),
            format!("{first} 与 {second} 之间没有激活函数：两层合起来只相当于一个线性层"),
        );
    }
    if layers == 0 {
        return Opinion::unknown(
            "the graph names no linear layers",
            "计算图未列出线性层",
            Missing::Nothing,
        );
    }
    Opinion::fine(
        "no two linear layers follow each other without an activation".to_owned(),
        "没有两个线性层之间缺少激活函数".to_owned(),
    )
}

/// True for a linear layer with weights, not for the product of two results.
fn is_layer(view: &View<'_>, at: usize) -> bool {
    let node = &view.nodes[at];
    view.does[at] == OperationClass::Linear
        && (attribute(node, "units").is_some()
            || attribute(node, "filters").is_some()
            || view.is_parameter(at, 1)
            || view.is_parameter(at, 2))
}

/// True if an operation ends with adding a trained constant to each channel.
fn adds_bias(view: &View<'_>, at: usize) -> bool {
    let node = &view.nodes[at];
    match view.does[at] {
        OperationClass::BiasAdd => true,
        // The first input of `addmm` is the bias; all others have it last.
        OperationClass::Linear if node.op_type.ends_with("addmm") => view.is_parameter(at, 0),
        OperationClass::Linear => {
            view.is_parameter(at, 1) && view.is_parameter(at, 2)
                || node
                    .attributes
                    .iter()
                    .any(|(name, value)| name == "use_bias" && value.eq_ignore_ascii_case("true"))
        }
        OperationClass::Add => {
            let sides = [(0, 1), (1, 0)];
            sides.into_iter().any(|(sum, bias)| {
                let is_vector = node.inputs.get(bias).and_then(|edge| view.shape(edge));
                view.is_parameter(at, bias)
                    && is_vector.is_some_and(|shape| shape.len() == 1)
                    && view
                        .origin(at, sum)
                        .is_some_and(|from| view.does[from] == OperationClass::Linear)
            })
        }
        _ => false,
    }
}

fn unused_parameters(view: &View<'_>) -> Opinion {
    let is_traced = view
        .nodes
        .iter()
        .any(|node| node.op_type.starts_with("prim::") || node.op_type.starts_with("aten::"));
    if is_traced {
        return Opinion::unknown(
            "a traced graph does not contain unused parameters; record gradients, which unused parameters do not have",
            "追踪得到的计算图只含运行过的部分，不含未使用的参数；请记录梯度，未使用的参数没有梯度",
            Missing::Gradients,
        );
    }
    let is_known =
        |at: &usize| view.nodes[*at].kind == NodeKind::Parameter && is_trained(&view.nodes[*at]);
    let parameters: Vec<usize> = (0..view.nodes.len()).filter(is_known).collect();
    if parameters.is_empty() {
        return Opinion::unknown(
            "the graph lists no parameters",
            "计算图未列出参数",
            Missing::Parameters,
        );
    }
    let unused: Vec<usize> = parameters
        .iter()
        .copied()
        .filter(|at| !is_used(view, *at))
        .collect();
    if let Some(&first) = unused.first() {
        let (name, count, all) = (view.name(first), unused.len(), parameters.len());
        let (en, zh) = if count == 1 {
            (
                format!("parameter {name} is not used by any operator and cannot learn"),
                format!("没有算子使用参数 {name}，它无法学习"),
            )
        } else {
            (
                format!(
                    "{count} of {all} parameters (such as {name}) are not used by any operator and cannot learn"
                ),
                format!("{all} 个参数中有 {count} 个（如 {name}）没有算子使用，它们无法学习"),
            )
        };
        return Opinion::found(State::Fault, Some(name), count, en, zh);
    }
    let count = parameters.len();
    Opinion::fine(
        format!("all {count} parameters are used"),
        format!("{count} 个参数均被使用"),
    )
}

/// True for a parameter of a layer, by its name and type: inputs, counters and the state of an optimizer are not.
fn is_trained(node: &Node) -> bool {
    let is_number = node.outputs.first().is_none_or(|output| {
        output.dtype.is_empty() || output.dtype.starts_with('f') || output.dtype.starts_with("bf")
    });
    let leaf = node.name.rsplit(['.', '/']).next().unwrap_or_default();
    let is_of_layer = leaf != node.name
        && [
            "weight",
            "bias",
            "gamma",
            "beta",
            "kernel",
            "embedding_table",
        ]
        .contains(&leaf);
    let state = [
        "moments",
        "moment1",
        "moment2",
        "accum",
        "velocity",
        "optimizer",
    ];
    is_number && is_of_layer && !state.iter().any(|word| node.name.starts_with(word))
}

/// True if an operation uses the parameter, directly or passed on.
fn is_used(view: &View<'_>, parameter: usize) -> bool {
    let mut open = vec![(parameter, 0)];
    while let Some((at, hops)) = open.pop() {
        if hops > MAX_HOPS {
            return true;
        }
        for &(user, place) in &view.users[at] {
            let user = user as usize;
            match view.does[user] {
                OperationClass::Orders => {}
                OperationClass::Passes if place > 0 => {}
                OperationClass::Passes | OperationClass::Gathers => open.push((user, hops + 1)),
                _ => return true,
            }
        }
    }
    false
}

/// A column minus a row: a table of all differences instead of one per sample.
fn broadcast(view: &View<'_>) -> Opinion {
    let (mut candidates, mut known) = (0_u64, 0_u64);
    let mut found = Vec::new();
    for at in view.forward() {
        let is_loss = view.does[at] == OperationClass::Loss(Loss::Values);
        if !is_loss && view.does[at] != OperationClass::Subtracts {
            continue;
        }
        let (Some(a), Some(b)) = (view.origin(at, 0), view.origin(at, 1)) else {
            continue;
        };
        let is_data =
            |at: usize| view.nodes[at].kind != NodeKind::Constant && !is_parameter(&view.nodes[at]);
        if a == b || !is_data(a) || !is_data(b) {
            continue;
        }
        candidates += 1;
        let inputs = &view.nodes[at].inputs;
        let (Some(a), Some(b)) = (view.shape(&inputs[0]), view.shape(&inputs[1])) else {
            continue;
        };
        known += 1;
        if is_table(&a, &b) && (is_loss || is_reduced(view, at)) {
            found.push((at, a, b));
        }
    }
    if let Some((at, a, b)) = found.first() {
        let (name, a, b) = (view.name(*at), written(a), written(b));
        return Opinion::found(
            State::Fault,
            Some(name),
            found.len(),
            format!("{name} broadcasts {a} with {b} to all pairs: squeeze one of them"),
            format!(
                "{name} 比较形状 {a} 与 {b}，广播后得到所有两两组合：请先对其中之一使用 squeeze"
            ),
        );
    }
    if candidates > known {
        return Opinion::unknown(
            "the graph has no shapes, so broadcasting is not checked",
            "计算图中没有形状，无法判断广播",
            Missing::Shapes,
        );
    }
    Opinion::fine(
        "no accidental broadcasting".to_owned(),
        "没有意外的广播".to_owned(),
    )
}

/// True if the shapes are `[…, n, 1]` and `[n]`, in either order.
fn is_table(a: &[u64], b: &[u64]) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    match (long, short) {
        ([.., n, 1], [.., m]) => long.len() == short.len() + 1 && n == m && *n > 1,
        _ => false,
    }
}

/// True if a difference soon ends in a mean or a sum, as in a loss.
fn is_reduced(view: &View<'_>, at: usize) -> bool {
    let mut open = vec![(at, 0)];
    while let Some((at, hops)) = open.pop() {
        for &(user, _) in &view.users[at] {
            let user = user as usize;
            let op = view.nodes[user].op_type.to_ascii_lowercase();
            if !view.is_backward[user]
                && (op.contains("mean") || op.contains("sum"))
                && !op.contains("summary")
            {
                return true;
            }
            if hops < REDUCED_WITHIN && view.users[user].len() <= 2 {
                open.push((user, hops + 1));
            }
        }
    }
    false
}

fn written(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
