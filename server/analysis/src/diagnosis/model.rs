//! Rules about a graph: each looks at what every framework's graph says in its own words, and costs no more than the
//! graph is large.

use trainscope_format::Graph;
use trainscope_format::graph::{Dimension, Edge, Node, NodeKind};

use super::operation::{Does, Loss, is_backward, is_parameter, of};
use super::recording::Missing;
use super::{Opinion, Rule, State};

/// Operations that are followed in a row, through reshapes and the like.
const MAX_HOPS: usize = 64;
/// Operations between a difference and the mean of a loss.
const REDUCED_WITHIN: usize = 4;

/// What is to be said of a graph.
pub(super) struct Seen {
    pub(super) opinions: Vec<(Rule, Opinion)>,
    pub(super) normalises_batches: bool,
}

/// There is none.
pub(super) fn without_graph() -> Opinion {
    Opinion::unknown(
        "no graph was recorded; the structure of the model is not checked",
        "未记录计算图，因此无法判断模型结构",
        Missing::GraphWithLoss,
    )
}

/// Looks at a graph by every rule.
pub(super) fn examine(graph: &Graph) -> Seen {
    let view = View::new(graph);
    let count = view.forward().count();
    if count == 0 {
        return Seen {
            opinions: Vec::new(),
            normalises_batches: false,
        };
    }
    Seen {
        opinions: vec![
            (Rule::LossActivation, loss_activation(&view)),
            (Rule::Broadcast, broadcast(&view)),
            (Rule::UnusedParameters, unused_parameters(&view)),
            (Rule::UselessBias, useless_bias(&view)),
        ],
        normalises_batches: view.forward().any(|at| {
            let plain = view.nodes[at].op_type.to_ascii_lowercase();
            view.does[at] == Does::Normalises && !plain.contains("instance")
        }),
    }
}

/// A graph, with what its operations do and who uses what they make.
struct View<'a> {
    nodes: &'a [Node],
    does: Vec<Does>,
    is_backward: Vec<bool>,
    /// Node and place among its inputs of whoever uses a node.
    users: Vec<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = &graph.nodes[..];
        let mut users = vec![Vec::new(); nodes.len()];
        for (at, node) in (0_u32..).zip(nodes) {
            for (place, edge) in (0_u32..).zip(&node.inputs) {
                let from = edge.node.filter(|_| !edge.is_control);
                if let Some(users) = from.and_then(|from| users.get_mut(from as usize)) {
                    users.push((at, place));
                }
            }
        }
        Self {
            nodes,
            does: nodes.iter().map(of).collect(),
            is_backward: nodes.iter().map(is_backward).collect(),
            users,
        }
    }

    /// Operations of the way forward.
    fn forward(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len())
            .filter(|at| self.nodes[*at].kind == NodeKind::Operation && !self.is_backward[*at])
    }

    /// What feeds the so-many-th input.
    fn input(&self, at: usize, place: usize) -> Option<usize> {
        let edge = self.nodes[at].inputs.get(place)?;
        let from = edge.node? as usize;
        (from < self.nodes.len() && !edge.is_control).then_some(from)
    }

    /// The operation that an input really comes from: what only hands it on is passed.
    fn origin(&self, at: usize, place: usize) -> Option<usize> {
        let mut from = self.input(at, place)?;
        for _ in 0..MAX_HOPS {
            // The access to a parameter is where a parameter comes from.
            if self.does[from] != Does::Passes || is_parameter(&self.nodes[from]) {
                return Some(from);
            }
            from = self.input(from, 0)?;
        }
        None
    }

    /// Whether an input is a parameter, as far as it is only handed on.
    fn is_parameter(&self, at: usize, place: usize) -> bool {
        self.origin(at, place)
            .is_some_and(|from| is_parameter(&self.nodes[from]))
    }

    /// The shape of an input, if all of its sizes are known.
    fn shape(&self, edge: &Edge) -> Option<Vec<u64>> {
        let from = self.nodes.get(edge.node? as usize)?;
        let shape = from.outputs.get(edge.slot as usize)?.shape.as_ref()?;
        let known = shape.iter().map(|size| match size {
            Dimension::Size(size) => Some(*size),
            Dimension::Symbol(_) => None,
        });
        known.collect()
    }

    fn name(&self, at: usize) -> &'a str {
        &self.nodes[at].name
    }
}

/// What stands before a loss and should not, or does not and should.
fn loss_activation(view: &View<'_>) -> Opinion {
    let mut found: Vec<(State, usize, String, String)> = Vec::new();
    let (mut losses, mut judged) = (0, 0);
    for at in view.forward() {
        let Does::Loss(loss) = view.does[at] else {
            // Two in a row, wherever the loss is.
            if matches!(view.does[at], Does::Softmax | Does::LogSoftmax)
                && let Some(first) = view.origin(at, 0)
                && view.does[first] == Does::Softmax
            {
                let (en, zh) = doubled(view, first, at);
                found.push((State::Fault, at, en, zh));
            }
            continue;
        };
        losses += 1;
        let Some(from) = view.origin(at, 0) else {
            continue;
        };
        judged += u64::from(view.does[from] != Does::Other || loss == Loss::Values);
        if let Some((state, en, zh)) = before_loss(view, loss, from, at) {
            found.push((state, at, en, zh));
        }
    }
    found.sort_by_key(|(state, at, ..)| (std::cmp::Reverse(*state), *at));
    let places = found.len();
    if let Some((state, at, en, zh)) = found.into_iter().next() {
        return Opinion::found(state, Some(view.name(at)), places, en, zh);
    }
    if losses == 0 {
        return Opinion::unknown(
            "the graph does not contain the loss, so its input is not checked; record the model together with the loss",
            "计算图不含损失，无法检查其输入；请将模型与损失一并记录",
            Missing::GraphWithLoss,
        );
    }
    if judged == 0 {
        return Opinion::unknown(
            "the input of the loss comes from an unknown operator",
            "损失的输入来自未知类型的算子",
            Missing::Nothing,
        );
    }
    Opinion::fine(
        "loss input is correct".to_owned(),
        "损失的输入正确".to_owned(),
    )
}

fn doubled(view: &View<'_>, first: usize, second: usize) -> (String, String) {
    let (first, second) = (view.name(first), view.name(second));
    (
        format!("{second} applies softmax to the probabilities of {first}: gradients become small"),
        format!("{first} 已输出概率，{second} 又做一次 softmax，梯度会变得很小"),
    )
}

/// What a loss that is fed by `from` has to complain of.
fn before_loss(
    view: &View<'_>,
    loss: Loss,
    from: usize,
    at: usize,
) -> Option<(State, String, String)> {
    let (input, name) = (view.name(from), view.name(at));
    let raw = matches!(view.does[from], Does::Linear | Does::BiasAdd | Does::Add);
    let fault = |en: String, zh: String| Some((State::Fault, en, zh));
    match (loss, view.does[from]) {
        (Loss::Logits, Does::Softmax | Does::Sigmoid) => fault(
            format!(
                "{name} applies softmax itself, but its input {input} already outputs probabilities: gradients become small"
            ),
            format!("{name} 内部已包含 softmax，而 {input} 已输出概率，梯度会变得很小"),
        ),
        (Loss::BinaryLogits, Does::Softmax | Does::Sigmoid) => fault(
            format!(
                "{name} applies sigmoid itself, but its input {input} already outputs probabilities: gradients become small"
            ),
            format!("{name} 内部已包含 sigmoid，而 {input} 已输出概率，梯度会变得很小"),
        ),
        (Loss::Logits | Loss::BinaryLogits, Does::Relu) => fault(
            format!("{input} clips negative logits before {name}: these outputs do not learn"),
            format!("{input} 在 {name} 之前截去了负的 logits，这些输出无法学习"),
        ),
        (Loss::Logits, Does::LogSoftmax) => Some((
            State::Note,
            format!("{name} applies softmax itself; {input} is redundant"),
            format!("{name} 内部已包含 softmax，{input} 是多余的"),
        )),
        (Loss::LogProbabilities, Does::Softmax | Does::Sigmoid) => fault(
            format!(
                "{name} expects log-probabilities, but {input} outputs probabilities: use log_softmax"
            ),
            format!("{name} 需要对数概率，而 {input} 给出的是概率，应使用 log_softmax"),
        ),
        (Loss::LogProbabilities, _) if raw => fault(
            format!(
                "{name} expects log-probabilities, but gets the logits of {input}: log_softmax is missing"
            ),
            format!("{name} 需要对数概率，得到的却是 {input} 的 logits：缺少 log_softmax"),
        ),
        (Loss::Probabilities, Does::Relu) => fault(
            format!(
                "{name} expects probabilities, but the output of {input} is unbounded: sigmoid is missing"
            ),
            format!("{name} 需要概率，而 {input} 没有上限：缺少 sigmoid"),
        ),
        (Loss::Probabilities, _) if raw => fault(
            format!(
                "{name} expects probabilities, but gets the logits of {input}: sigmoid is missing"
            ),
            format!("{name} 需要概率，得到的却是 {input} 的 logits：缺少 sigmoid"),
        ),
        _ => None,
    }
}

/// A bias whose only user takes it out again.
fn useless_bias(view: &View<'_>) -> Opinion {
    let mut found = Vec::new();
    let mut normalisations = 0_usize;
    for at in view
        .forward()
        .filter(|at| view.does[*at] == Does::Normalises)
    {
        normalisations += 1;
        let Some(from) = view.origin(at, 0) else {
            continue;
        };
        let is_only_user = view.users[from].iter().all(|(user, _)| {
            let user = *user as usize;
            user == at || view.is_backward[user] || view.does[user] == Does::Orders
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

/// Whether an operation ends with adding a trained constant to each channel.
fn adds_bias(view: &View<'_>, at: usize) -> bool {
    let node = &view.nodes[at];
    match view.does[at] {
        Does::BiasAdd => true,
        // The first input of `addmm` is the bias; all others have it at the end.
        Does::Linear if node.op_type.ends_with("addmm") => view.is_parameter(at, 0),
        Does::Linear => {
            view.is_parameter(at, 1) && view.is_parameter(at, 2)
                || node
                    .attributes
                    .iter()
                    .any(|(name, value)| name == "use_bias" && value.eq_ignore_ascii_case("true"))
        }
        Does::Add => {
            let sides = [(0, 1), (1, 0)];
            sides.into_iter().any(|(sum, bias)| {
                let is_vector = node.inputs.get(bias).and_then(|edge| view.shape(edge));
                view.is_parameter(at, bias)
                    && is_vector.is_some_and(|shape| shape.len() == 1)
                    && view
                        .origin(at, sum)
                        .is_some_and(|from| view.does[from] == Does::Linear)
            })
        }
        _ => false,
    }
}

/// Parameters that nothing computes with.
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

/// Whether a parameter is one of a layer, by its name and type: inputs, counters and what an optimizer remembers are not.
fn is_trained(node: &Node) -> bool {
    let is_number = node.outputs.first().is_none_or(|own| {
        own.dtype.is_empty() || own.dtype.starts_with('f') || own.dtype.starts_with("bf")
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

/// Whether something computes with it, however it is handed on.
fn is_used(view: &View<'_>, parameter: usize) -> bool {
    let mut open = vec![(parameter, 0)];
    while let Some((at, hops)) = open.pop() {
        if hops > MAX_HOPS {
            return true;
        }
        for &(user, place) in &view.users[at] {
            let user = user as usize;
            match view.does[user] {
                Does::Orders => {}
                Does::Passes if place > 0 => {}
                Does::Passes | Does::Gathers => open.push((user, hops + 1)),
                _ => return true,
            }
        }
    }
    false
}

/// A column less a row: a table of all differences instead of one a sample.
fn broadcast(view: &View<'_>) -> Opinion {
    let (mut candidates, mut known) = (0_u64, 0_u64);
    let mut found = Vec::new();
    for at in view.forward() {
        let is_loss = view.does[at] == Does::Loss(Loss::Values);
        if !is_loss && view.does[at] != Does::Subtracts {
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

/// Whether `[…, n, 1]` and `[n]` meet, in either order.
fn is_table(a: &[u64], b: &[u64]) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    match (long, short) {
        ([.., n, 1], [.., m]) => long.len() == short.len() + 1 && n == m && *n > 1,
        _ => false,
    }
}

/// Whether a difference soon ends in a mean or a sum, as a loss does.
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
