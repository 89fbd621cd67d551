//! Rules about data preparation, from the recorded pipeline of a run.

use trainscope_format::lineage::{DatasetNode, DatasetOperation, LineageValue};

use super::recording::Missing;
use super::{Opinion, Rule, State};

/// Maximum number of operations of a pipeline to examine.
const MAX_NODES: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    operations: usize,
    shuffles: bool,
    /// A sampler or source that is explicitly in order.
    in_order: Option<String>,
    scales: bool,
    /// A source of images with pixels from 0 to 255.
    pictures: Option<String>,
}

fn text<'a>(parameters: &'a [(String, LineageValue)], name: &str) -> Option<&'a str> {
    let found = parameters.iter().find(|(key, _)| key == name);
    match found {
        Some((_, LineageValue::Text(text))) => Some(text),
        _ => None,
    }
}

impl Pipeline {
    pub(super) fn of(root: &DatasetNode) -> Self {
        let mut seen = Self::default();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if seen.operations == MAX_NODES {
                break;
            }
            seen.operations += 1;
            seen.node(node);
            open.extend(&node.children);
        }
        seen
    }

    pub(super) fn is_empty(&self) -> bool {
        self.operations == 0
    }

    fn node(&mut self, node: &DatasetNode) {
        let op = text(&node.parameters, "op_type").unwrap_or_default();
        let is_true = |(name, value): &(String, LineageValue)| {
            name == "shuffle"
                && match value {
                    LineageValue::Bool(yes) => *yes,
                    LineageValue::Text(text) => !text.eq_ignore_ascii_case("false"),
                    LineageValue::Int(number) => *number != 0,
                    _ => false,
                }
        };
        self.shuffles |= op == "Shuffle" || node.parameters.iter().any(is_true);
        if let Some(sampler) = node.sampler.as_ref().and_then(name_of) {
            // Weighted and random samplers shuffle, too.
            if sampler.contains("Sequential") {
                self.in_order = Some(sampler.to_owned());
            } else {
                self.shuffles = true;
            }
        }
        let is_pictures = ["Mnist", "Cifar", "ImageFolder", "CelebA", "Coco", "VOC"]
            .iter()
            .any(|word| op.contains(word));
        if is_pictures {
            self.pictures = Some(op.to_owned());
        }
        for operation in &node.operations {
            let name = name_of(operation).unwrap_or_default();
            self.scales |= ["Rescale", "Normalize", "ToTensor", "NormalizePad"].contains(&name);
            // Code of the user may do anything.
            self.scales |= name.contains("PyFunc") || name.is_empty();
        }
    }

    pub(super) fn judge(&self) -> Vec<(Rule, Opinion)> {
        if self.is_empty() {
            let opinion = Opinion::unknown(
                "the data pipeline was not recorded; sample order and value range are not checked",
                "未记录数据流水线，无法判断样本顺序和取值范围",
                Missing::Pipeline,
            );
            return vec![(Rule::Shuffling, opinion)];
        }
        vec![
            (Rule::Shuffling, self.shuffling()),
            (Rule::Scaling, self.scaling()),
        ]
    }

    fn shuffling(&self) -> Opinion {
        match &self.in_order {
            _ if self.shuffles => {
                Opinion::fine("samples are shuffled".to_owned(), "样本已打乱".to_owned())
            }
            Some(sampler) => Opinion::found(
                State::Note,
                None,
                1,
                format!(
                    "samples come in the same order each epoch ({sampler}); they are not shuffled"
                ),
                format!("每轮样本顺序相同（{sampler}），没有打乱操作"),
            ),
            None => Opinion::unknown(
                "shuffling is unknown: the pipeline does not record it",
                "数据流水线未说明样本是否打乱",
                Missing::Shuffle,
            ),
        }
    }

    fn scaling(&self) -> Opinion {
        match &self.pictures {
            _ if self.scales => Opinion::fine(
                "values are rescaled or normalized".to_owned(),
                "数值已缩放或归一化".to_owned(),
            ),
            Some(source) => Opinion::found(
                State::Note,
                None,
                1,
                format!(
                    "{source} outputs pixels from 0 to 255, and the pipeline does not normalize them"
                ),
                format!("{source} 的像素取值为 0 到 255，数据流水线中没有归一化操作"),
            ),
            None => Opinion::unknown(
                "the value range is unknown: neither the pipeline nor input tensors record it",
                "数据流水线和输入张量均未说明取值范围",
                Missing::Inputs,
            ),
        }
    }
}

fn name_of(operation: &DatasetOperation) -> Option<&str> {
    let parameters = &operation.parameters;
    text(parameters, "tensor_op_name").or_else(|| text(parameters, "sampler_name"))
}
