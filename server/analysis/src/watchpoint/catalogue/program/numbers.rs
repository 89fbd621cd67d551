//! Conditions about the first NaN or infinity, probes of the first batch, and the end of the program.

use trainscope_format::Severity;

use super::super::design::of;
use super::super::{Condition, Prose};
use crate::diagnosis::Rule;

pub(crate) static OPERATION_NOT_FINITE: Condition = Condition {
    severity: Severity::Error,
    finds_not_finite: true,
    en: Prose {
        says: "operation makes NaN or Inf",
        checks: "The first function of the autograd graph, in the order of the forward pass, whose result holds NaN or Inf and whose \
         inputs do not; or in the backward pass the first whose outgoing gradients do and whose incoming ones do not.",
        matters: "All NaN and Inf after it follow from this operation.",
        not_judged: "Functions that keep neither inputs nor results: the sentence then says between which two functions it is. No fact of \
         it was recorded (trainscope run, or run.watch).",
        advice: "Keep its inputs in the range of the function: a clamp or an epsilon before log, division and sqrt, or the function that \
         does both, such as log_softmax or binary_cross_entropy_with_logits.",
    },
    zh: Prose {
        says: "运算产生 NaN 或 Inf",
        checks: "按前向顺序，自动求导图中第一个结果含 NaN 或 Inf 而输入不含的函数；反向传播中则为第一个传出梯度含而传入梯度不含的函数。",
        matters: "此后的所有 NaN 和 Inf 都由该运算引起。",
        not_judged: "既不保存输入也不保存结果的函数：句子会说明位于哪两个函数之间。没有记录相关事实（trainscope run 或 run.watch）。",
        advice: "使输入处于函数的定义域内：在 log、除法和 sqrt 之前使用 clamp 或 epsilon，或改用合二为一的函数，如 log_softmax、\
         binary_cross_entropy_with_logits。",
    },
    ..of(Rule::OperationNotFinite)
};

pub(crate) static PREFLIGHT_PROBE: Condition = Condition {
    en: Prose {
        says: "probe of first batch failed",
        checks: "A probe of the model with its first batch failed: outputs that are not finite (an error); samples that depend on others \
         of their batch; positions that depend on later tokens, or not on the first; inputs without an effect; two evaluations that \
         differ; parameters that one update does not change; one batch that cannot be learned. A note: the initial loss, the range of \
         rates, precision, memory.",
        matters: "Each is a property of the program, found before the training costs anything.",
        not_judged: "Probes that were not tried, for time or memory; no preflight was run (run.watch(…, preflight=True), or trainscope run \
         --preflight).",
        advice: "Correct what the sentence names, and run the preflight again.",
    },
    zh: Prose {
        says: "首批数据检查未通过",
        checks: "用首批数据对模型做的检查未通过：输出不是有限值（错误）；样本依赖同一批次的其他样本；位置依赖其后的词元，或不依赖首个词元；\
         输入不起作用；两次评估结果不同；一次更新没有改变参数；无法学会一个批次。提示：初始损失、学习率范围、精度、内存。",
        matters: "这些都是程序本身的性质，在训练开始消耗资源之前就能发现。",
        not_judged: "因时间或内存而未执行的检查；没有执行首批数据检查（run.watch(…, preflight=True) 或 trainscope run --preflight）。",
        advice: "改正句子指出的问题，然后重新检查。",
    },
    ..of(Rule::PreflightProbe)
};

pub(crate) static PROGRAM_FAILED: Condition = Condition {
    severity: Severity::Error,
    en: Prose {
        says: "program ended with an exception",
        checks: "An exception ended the training program. A note for an interruption by the user, and for an exit of the program itself.",
        matters: "The training is not complete.",
        not_judged: "Programs that end by a signal; no fact of it was recorded (trainscope run).",
        advice: "Read the message, and the line that raised it.",
    },
    zh: Prose {
        says: "程序因异常结束",
        checks: "训练程序因异常而结束。用户中断或程序自行退出为提示。",
        matters: "训练没有完成。",
        not_judged: "由信号结束的程序；没有记录相关事实（trainscope run）。",
        advice: "请查看异常信息及引发它的代码行。",
    },
    ..of(Rule::ProgramFailed)
};
