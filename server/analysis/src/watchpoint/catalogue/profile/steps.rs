//! Conditions about the times of steps: single ones, their trend, and a baseline.

use super::{Condition, Key, Prose, Range, limit, of};
use crate::trace::advice::Rule;
use trainscope_format::Severity;

pub(crate) static STEP_OUTLIERS: Condition = Condition {
    severity: Severity::Info,
    parameters: &[
        limit(Key::ShareGt, Range::Share)
            .says("share of outliers above", "离群迭代的比例大于")
            .at(0.05),
        limit(Key::ShareWarningGt, Range::Share)
            .says(
                "the same, for a warning, above",
                "同上，达到警告级别的比例大于",
            )
            .at(0.20)
            .support(),
    ],
    en: Prose {
        says: "some steps take far longer",
        checks: "More than share_gt of the steps are longer than median + 5 MAD and than 1.05 medians; a warning beyond \
         share_warning_gt of at least 20 steps. MAD is the median absolute deviation.",
        matters: "Checkpoints, evaluation, a full queue or garbage collection in single steps delay all ranks (StepOutlier of Amazon \
         SageMaker Debugger).",
        not_judged: "Fewer than 5 steps were recorded.",
        advice: "Compare the longest step with the median one: the part that grew is named.",
    },
    zh: Prose {
        says: "部分迭代明显更久",
        checks: "超过 share_gt 的迭代长于中位数 + 5 MAD 且长于 1.05 倍中位数；至少 20 个迭代且超过 share_warning_gt 为警告。MAD 为绝对中位差。",
        matters: "个别迭代中的检查点、评估、队列已满或垃圾回收会拖慢所有 rank（Amazon SageMaker Debugger 的 StepOutlier）。",
        not_judged: "记录的迭代少于 5 个。",
        advice: "将最长的迭代与中位数的迭代对比：会指出变长的部分。",
    },
    ..of(Rule::StepOutliers)
};

pub(crate) static STEP_TIME_DRIFT: Condition = Condition {
    recommended: true,
    parameters: &[
        limit(Key::ShareGt, Range::NotNegative)
            .says(
                "increase over the session / median above",
                "会话期间的增加与中位数之比大于",
            )
            .at(0.20),
        limit(Key::ProbabilityLt, Range::Share)
            .says(
                "probability of such a trend by chance below",
                "偶然出现该趋势的概率小于",
            )
            .at(0.01),
        limit(Key::Steps, Range::Count)
            .says("minimum number of steps", "最少的迭代数")
            .at(20.0)
            .support(),
    ],
    en: Prose {
        says: "steps take longer and longer",
        checks: "The slope of the step times (Theil-Sen) times the number of steps, divided by their median, exceeds share_gt, and the \
         probability of such a trend by chance (Mann-Kendall) is below probability_lt, over at least steps steps.",
        matters: "Lists that grow, leaking memory, a device that becomes hot or longer samples make each step longer than the one before.",
        not_judged: "Fewer steps were recorded.",
        advice: "Compare the last step with the first one, then search for lists that are never emptied, and check the clock rate of the \
         device.",
    },
    zh: Prose {
        says: "迭代越来越久",
        checks: "迭代时间的斜率（Theil–Sen）乘以迭代数，除以中位数，超过 share_gt，且偶然出现该趋势的概率（Mann–Kendall）小于 \
         probability_lt，至少 steps 个迭代。",
        matters: "不断增长的列表、内存泄漏、设备过热或更长的样本会使每个迭代都比前一个久。",
        not_judged: "记录的迭代更少。",
        advice: "将最后一个迭代与第一个对比，先查从不清空的列表，再查设备的时钟频率。",
    },
    ..of(Rule::StepTimeDrift)
};

pub(crate) static STEP_TIME_REGRESSION: Condition = Condition {
    parameters: &[
        limit(Key::FactorGt, Range::Positive)
            .says(
                "median step / median of the baseline above",
                "迭代时间中位数与基线之比大于",
            )
            .at(1.10),
        limit(Key::FactorErrorGt, Range::Positive)
            .says(
                "the same, for an error, above",
                "同上，达到错误级别的比值大于",
            )
            .at(1.5)
            .support(),
        limit(Key::Steps, Range::Count)
            .says("minimum number of steps of either", "双方最少的迭代数")
            .at(5.0)
            .support(),
    ],
    en: Prose {
        says: "steps slower than the baseline",
        checks: "The median step, divided by that of the baseline, exceeds factor_gt, and its 95 % interval (bootstrap with a fixed \
         seed) is above 1; an error beyond factor_error_gt. At least steps steps of either.",
        matters: "A change of the program, a library or the machine that makes steps slower is found when it is made.",
        not_judged: "No baseline was given (check RUN --against RUN_OR_FILE), it was recorded on another device (and no --any-device was \
         given), one of the two has no profile, or there are fewer steps.",
        advice: "Compare the parts and the operators of both: trainscope diff A B --profile.",
    },
    zh: Prose {
        says: "迭代比基线慢",
        checks: "迭代时间中位数除以基线的中位数，超过 factor_gt，且其 95 % 区间（固定种子的自助法）大于 1；超过 factor_error_gt 为错误。\
         双方至少 steps 个迭代。",
        matters: "在程序、库或机器的改动使迭代变慢时立即发现。",
        not_judged: "未指定基线（check RUN --against RUN_OR_FILE），基线在另一种设备上采集（且未指定 --any-device），其中一方没有性能分析，或迭代数更少。",
        advice: "对比双方的组成部分与算子：trainscope diff A B --profile。",
    },
    ..of(Rule::StepTimeRegression)
};

pub(crate) static OPERATOR_REGRESSION: Condition = Condition {
    severity: Severity::Info,
    parameters: &[
        limit(Key::GrowthGt, Range::NotNegative)
            .says(
                "growth of self time a step above",
                "每个迭代自身耗时的增长大于",
            )
            .at(0.20),
        limit(Key::StepShareGt, Range::Share)
            .says("growth / step above", "增长占迭代时间的比例大于")
            .at(0.01),
    ],
    en: Prose {
        says: "operators slower than the baseline",
        checks: "The self time of an operator a step has grown by more than growth_gt of that of the baseline, and by more than \
         step_share_gt of the step.",
        matters: "It names the operators that make steps slower, also where others became faster.",
        not_judged: "No baseline was given (check RUN --against RUN_OR_FILE), it was recorded on another device (and no --any-device was \
         given), or one of the two has no profile, no steps or no operators.",
        advice: "Compare shapes, element types and kernels of the operator in both.",
    },
    zh: Prose {
        says: "算子比基线慢",
        checks: "算子每个迭代的自身耗时比基线增长超过 growth_gt，且增长超过迭代时间的 step_share_gt。",
        matters: "指出使迭代变慢的算子，即使其他算子变快了。",
        not_judged: "未指定基线（check RUN --against RUN_OR_FILE），基线在另一种设备上采集（且未指定 --any-device），或其中一方没有性能分析、迭代或算子。",
        advice: "对比双方该算子的形状、元素类型与 kernel。",
    },
    ..of(Rule::OperatorRegression)
};

pub(crate) static RECOMPILATION: Condition = Condition {
    parameters: &[limit(Key::SkipSteps, Range::Count)
        .says("number of first steps not judged", "不判断的最初迭代数")
        .at(3.0)
        .support()],
    counts: super::super::text("steps with compilation", "个迭代中有编译"),
    en: Prose {
        says: "compilation within steps",
        checks: "Frames of a compiler of the framework (dynamo, inductor, jit) in a step after the first skip_steps ones of the session.",
        matters: "A graph is compiled once; it is compiled again for each new shape or value that it depends on.",
        not_judged: "No further steps were recorded.",
        advice: "Pad samples to few different shapes, torch.compile(dynamic=True), mark_dynamic; TORCH_LOGS=recompiles names the reason.",
    },
    zh: Prose {
        says: "迭代中编译",
        checks: "会话最初 skip_steps 个迭代之后，迭代中有框架编译器（dynamo、inductor、jit）的栈帧。",
        matters: "图只编译一次；每出现一个所依赖的新形状或新值，就要重新编译。",
        not_judged: "没有更多迭代。",
        advice: "把样本补齐到少数几种形状，使用 torch.compile(dynamic=True)、mark_dynamic；TORCH_LOGS=recompiles 会给出原因。",
    },
    ..of(Rule::Recompilation)
};
