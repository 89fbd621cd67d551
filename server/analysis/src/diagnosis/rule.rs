//! Rules of the guided diagnosis: names, titles, topics and consequences.

use trainscope_api::guide::Topic;
use trainscope_api::program::ProgramPart;

use crate::text::Text;

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $topic:ident, $causes:ident, $en:literal, $zh:literal;)*) => {
        /// A rule of the guided diagnosis. Its name is part of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$rule),*];

            /// Name, which is also the id of the condition that turns its faults into hits.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }

            /// Subject of the rule, as a title.
            pub const fn title(self) -> Text {
                match self {
                    $(Self::$rule => Text { en: $en, zh: $zh },)*
                }
            }

            /// Topic of the rule.
            pub const fn topic(self) -> Topic {
                match self {
                    $(Self::$rule => Topic::$topic,)*
                }
            }

            /// Consequences of a fault of this rule. Nearly every fault exists before the first step, but not every one
            /// can cause later findings.
            pub(crate) const fn causes(self) -> Causes {
                match self {
                    $(Self::$rule => Causes::$causes,)*
                }
            }
        }
    };
}

rules! {
    /// Hyper-parameters that an optimizer cannot work with.
    Settings = "settings", Hyperparameters, Everything, "Hyper-parameter values", "超参数取值";
    /// Activation between the last layer and the loss.
    LossActivation = "loss_activation", Model, NoProgress, "Activation before the loss", "损失前的激活函数";
    /// Difference of two tensors that broadcasts to a larger one.
    Broadcast = "broadcast", Model, NoProgress, "Accidental broadcast", "意外广播";
    /// Parameters without users.
    UnusedParameters = "unused_parameters", Model, Nothing, "Unused parameters", "未使用的参数";
    /// Bias that a following normalisation cancels.
    UselessBias = "useless_bias", Model, Nothing, "Bias before normalization", "归一化前的偏置";
    /// Linear layers without an activation between them.
    LinearLayers = "linear_layers", Model, Nothing, "Activation between layers", "层间的激活函数";
    /// The order of samples.
    Shuffling = "shuffling", Input, Nothing, "Sample order", "样本顺序";
    /// The range of samples.
    Scaling = "scaling", Input, NoProgress, "Value range", "样本取值范围";
    /// A loss that was computed without gradients.
    LossWithoutGradient = "loss_without_gradient", Loss, NoProgress, "Gradient of the loss", "损失的梯度";
    /// Trainable parameters that no loss depends on.
    ParametersNotReached = "parameters_not_reached", Model, NoProgress, "Parameters that the loss reaches", "损失可达的参数";
    /// Parameters outside of the model.
    ParametersNotRegistered = "parameters_not_registered", Model, NoProgress, "Registered parameters", "已注册的参数";
    /// Parameters that optimizers hold.
    OptimizerParameters = "optimizer_parameters", Hyperparameters, NoProgress, "Parameters of the optimizer", "优化器的参数";
    /// Gradients left over from the update before.
    GradientsNotCleared = "gradients_not_cleared", Hyperparameters, Everything, "Clearing of gradients", "梯度清零";
    /// Gradients cleared while they are accumulated.
    GradientsClearedBetween = "gradients_cleared_between", Hyperparameters, NoProgress, "Accumulation of gradients", "梯度累积";
    /// A learning rate that fell to nothing early.
    LearningRateGone = "learning_rate_gone", Hyperparameters, NoProgress, "Course of the learning rate", "学习率的变化";
    /// Updates smaller than the resolution of the weights.
    UpdateRoundedAway = "update_rounded_away", Hyperparameters, NoProgress, "Resolution of the weights", "权重的精度";
    /// Layers in evaluation mode during the training.
    EvaluationMode = "evaluation_mode", Model, NoProgress, "Mode of the layers", "层的模式";
    /// Clipping of gradients that are still scaled.
    ClippedBeforeUnscaling = "clipped_before_unscaling", Hyperparameters, Everything, "Order of clipping and unscaling", "裁剪与反缩放的顺序";
    /// Clipping of no gradients.
    ClippedNothing = "clipped_nothing", Hyperparameters, Everything, "Clipped parameters", "被裁剪的参数";
    /// A loss scale near 0.
    LossScaleCollapsed = "loss_scale_collapsed", Loss, NoProgress, "Loss scale", "损失缩放";
    /// Targets shifted against the inputs.
    LabelsShifted = "labels_shifted", Input, NoProgress, "Shift of the labels", "标签的移位";
    /// A feature that is the label.
    LabelInFeatures = "label_in_features", Input, NoProgress, "Label among the features", "特征中的标签";
    /// Labels that are all the same.
    OneLabel = "one_label", Input, NoProgress, "Variety of the labels", "类别标签的多样性";
    /// Features of very different sizes.
    InputScale = "input_scale", Input, Everything, "Size of the features", "特征的大小";
    /// Targets much larger than the outputs.
    TargetScale = "target_scale", Input, Everything, "Size of the targets", "目标值的大小";
    /// One batch at every step.
    RepeatedBatch = "repeated_batch", Input, Nothing, "Variety of the batches", "批次的多样性";
    /// Rows of an embedding that are used.
    EmbeddingOneRow = "embedding_one_row", Model, NoProgress, "Rows of the embedding", "嵌入的行";
    /// Tensors that were equal and are no longer.
    TieBroken = "tie_broken", Model, NoProgress, "Tied weights", "共享的权重";
    /// A checkpoint without matching names.
    NothingLoaded = "nothing_loaded", Model, NoProgress, "Loaded weights", "加载的权重";
    /// A seed set again and again.
    SeededInLoop = "seeded_in_loop", Input, NoProgress, "Random seeds", "随机种子";
    /// Lines that wait for a device.
    WaitsForDevice = "waits_for_device", Speed, Nothing, "Waiting for the device", "等待设备";
    /// The operation that makes NaN or infinities.
    OperationNotFinite = "operation_not_finite", Model, NotFinite, "First NaN or Inf", "首个 NaN 或 Inf";
    /// Probes of the first batch.
    PreflightProbe = "preflight_probe", Model, NoProgress, "Preflight", "首批数据检查";
    /// An exception that ended the program.
    ProgramFailed = "program_failed", Recorded, End, "End of the program", "程序的结束";
}

impl Rule {
    /// Part of the program that it is about; `None` for rules about graphs alone, and about the end of the program.
    pub const fn part(self) -> Option<ProgramPart> {
        Some(match self {
            Self::ParametersNotReached
            | Self::ParametersNotRegistered
            | Self::NothingLoaded
            | Self::TieBroken
            | Self::EmbeddingOneRow => ProgramPart::Model,
            Self::Settings
            | Self::OptimizerParameters
            | Self::LearningRateGone
            | Self::UpdateRoundedAway => ProgramPart::Optimizer,
            Self::LossActivation
            | Self::Broadcast
            | Self::LossWithoutGradient
            | Self::TargetScale => ProgramPart::Loss,
            Self::OneLabel
            | Self::LabelsShifted
            | Self::LabelInFeatures
            | Self::InputScale
            | Self::Shuffling
            | Self::RepeatedBatch
            | Self::SeededInLoop => ProgramPart::Data,
            Self::EvaluationMode
            | Self::GradientsNotCleared
            | Self::GradientsClearedBetween
            | Self::ClippedBeforeUnscaling
            | Self::ClippedNothing
            | Self::LossScaleCollapsed
            | Self::WaitsForDevice => ProgramPart::Loop,
            Self::UnusedParameters
            | Self::UselessBias
            | Self::LinearLayers
            | Self::Scaling
            | Self::OperationNotFinite
            | Self::PreflightProbe
            | Self::ProgramFailed => return None,
        })
    }
}

/// Rules in the order in which their faults are named as the cause of another hit: causes of other faults come first.
const FIRST: [Rule; 29] = [
    Rule::LossWithoutGradient,
    Rule::OptimizerParameters,
    Rule::ParametersNotRegistered,
    Rule::ParametersNotReached,
    Rule::NothingLoaded,
    Rule::LossActivation,
    Rule::Broadcast,
    Rule::LabelsShifted,
    Rule::OneLabel,
    Rule::GradientsNotCleared,
    Rule::GradientsClearedBetween,
    Rule::ClippedNothing,
    Rule::ClippedBeforeUnscaling,
    Rule::Settings,
    Rule::UpdateRoundedAway,
    Rule::LearningRateGone,
    Rule::EvaluationMode,
    Rule::EmbeddingOneRow,
    Rule::TieBroken,
    Rule::LabelInFeatures,
    Rule::TargetScale,
    Rule::InputScale,
    Rule::SeededInLoop,
    Rule::Scaling,
    Rule::PreflightProbe,
    Rule::LossScaleCollapsed,
    Rule::Shuffling,
    Rule::OperationNotFinite,
    Rule::ProgramFailed,
];

impl Rule {
    /// Object of the rule, for remarks without a node.
    pub const fn object(self) -> &'static str {
        match self {
            Self::UnusedParameters
            | Self::UselessBias
            | Self::LinearLayers
            | Self::LossActivation
            | Self::Broadcast => "graph",
            Self::Settings => "hyperparameters",
            Self::Shuffling | Self::Scaling => "data pipeline",
            _ => "program",
        }
    }

    /// True for rules about an event at a step. All others are about the program as a whole.
    pub(crate) const fn is_event(self) -> bool {
        matches!(self, Self::OperationNotFinite | Self::ProgramFailed)
    }

    /// Place among several faults that explain the same hit.
    pub(crate) fn place(self) -> usize {
        let found = FIRST.iter().position(|rule| *rule == self);
        found.unwrap_or(FIRST.len())
    }
}

/// Consequences of a fault of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Causes {
    /// Any later finding except those about the data.
    Everything,
    /// A model that does not learn, and no NaN or infinity.
    NoProgress,
    /// NaN and infinities.
    NotFinite,
    /// The end of the program: it explains no hit, but matters more than faults that do not end it.
    End,
    /// Nothing else.
    Nothing,
}
