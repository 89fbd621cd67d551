//! Rules over facts of the program: each with a fact that is a fault, one near it that is sound, and one without the
//! numbers to judge it.

use trainscope_analysis::diagnosis::{Examiner, Framework, Remark, Rule, State};
use trainscope_analysis::watchpoint::{CONDITIONS, Context, Evaluator, Findings, Watchpoints};
use trainscope_format::program::{ProgramFact, SourceLine};

mod causes;

/// A fact as `kind subject | number=1 text=word`. Underscores of texts are kept; `~` is a space.
fn fact(written: &str) -> ProgramFact {
    let (head, fields) = written.split_once('|').unwrap_or((written, ""));
    let (kind, subject) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    let mut fact = ProgramFact {
        kind: kind.to_owned(),
        subject: subject.replace('~', " "),
        ..ProgramFact::default()
    };
    for (name, value) in fields.split_whitespace().filter_map(|f| f.split_once('=')) {
        match value.parse() {
            Ok(number) => fact.numbers.push((name.to_owned(), number)),
            Err(_) => fact.texts.push((name.to_owned(), value.replace('~', " "))),
        }
    }
    fact
}

/// The same at a line of the program.
fn at_line(written: &str, line: u64) -> ProgramFact {
    ProgramFact {
        source: Some(SourceLine {
            file: "train.py".to_owned(),
            line,
            function: "main".to_owned(),
            first_line: line - 1,
            excerpt: "for x, y in batches:\n    loss.backward()\n".to_owned(),
        }),
        ..fact(written)
    }
}

/// Remarks of facts of rank 0, each a step after the one before.
fn remarks(facts: &[&str]) -> Vec<Remark> {
    let mut examiner = Examiner::default();
    for (step, written) in (0..).zip(facts) {
        let fact = &fact(written);
        examiner.learn(0, &Context::Program { step, fact });
    }
    examiner.remarks(Framework::Python)
}

/// The worst state of a rule; `None` without a remark of it.
fn state(facts: &[&str], rule: Rule) -> Option<State> {
    let all = remarks(facts).into_iter();
    all.filter(|own| own.rule == rule)
        .map(|own| own.state)
        .max()
}

/// Findings of a run with facts and a loss.
fn judged(facts: &[ProgramFact], loss: impl Fn(i64) -> f64) -> Findings {
    let mut examiner = Examiner::default();
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for fact in facts {
        let context = Context::Program { step: 10, fact };
        examiner.learn(0, &context);
        evaluator.context(0, context);
    }
    for step in 10..80 {
        evaluator.scalar(0, "loss", step, 0.0, loss(step));
    }
    evaluator.findings_with(&examiner.remarks(Framework::Python))
}

fn ids(findings: &Findings) -> Vec<&str> {
    findings.hits.iter().map(|hit| hit.condition.id).collect()
}

/// A rule, with facts that are a fault, facts that are sound, and facts that do not tell.
struct Case {
    rule: Rule,
    worst: State,
    faults: &'static [&'static [&'static str]],
    sound: &'static [&'static [&'static str]],
    unknown: &'static [&'static [&'static str]],
}

const CASES: &[Case] = &[
    Case {
        rule: Rule::LossWithoutGradient,
        worst: State::Error,
        faults: &[&["loss_function ? | has_gradient=0"]],
        sound: &[&["loss_function mse_loss | has_gradient=1 before=linear"]],
        unknown: &[&["loss_function mse_loss | before=linear"]],
    },
    Case {
        rule: Rule::LossActivation,
        worst: State::Fault,
        faults: &[
            &["loss_function cross_entropy | before=softmax"],
            &["loss_function cross_entropy#2 | before=sigmoid module=head"],
            &["loss_function cross_entropy | before=relu"],
            &["loss_function nll_loss | before=log_softmax before_that=softmax"],
            &["loss_function nll_loss | before=linear"],
            &["loss_function nll_loss | before=softmax"],
            &["loss_function kl_div | before=softmax"],
            &["loss_function binary_cross_entropy_with_logits | before=sigmoid"],
            &["loss_function mse_loss | before=relu negative_targets=0.4"],
        ],
        sound: &[
            &["loss_function cross_entropy | before=linear classes=10"],
            &["loss_function nll_loss | before=log_softmax before_that=linear"],
            &["loss_function nll_loss | before=log"],
            &["loss_function kl_div | before=log_softmax"],
            &["loss_function binary_cross_entropy | before=sigmoid"],
            &["loss_function mse_loss | before=relu negative_targets=0"],
            &["loss_function mse_loss | before=linear negative_targets=0.4"],
        ],
        unknown: &[
            &["loss_function nll_loss | before=custom_function"],
            &["loss_function cross_entropy | has_gradient=1"],
        ],
    },
    Case {
        rule: Rule::Broadcast,
        worst: State::Fault,
        faults: &[
            &["loss_function mse_loss | broadcast=1 outputs_shape=[64,~1] targets_shape=[64]"],
            &["loss_function mse_loss | broadcast=1"],
        ],
        sound: &[&["loss_function mse_loss | broadcast=0 before=linear"]],
        unknown: &[&["loss_function mse_loss | before=linear"]],
    },
    Case {
        rule: Rule::TargetScale,
        worst: State::Fault,
        faults: &[&["loss_function mse_loss | targets_rms=250 outputs_rms=0.3"]],
        sound: &[
            &["loss_function mse_loss | targets_rms=90 outputs_rms=0.3"],
            &["loss_function l1_loss | targets_rms=5000 outputs_rms=900"],
            // The first fact counts: later outputs have grown.
            &[
                "loss_function l1_loss | targets_rms=90 outputs_rms=0.3",
                "loss_function l1_loss | targets_rms=900 outputs_rms=1",
            ],
        ],
        unknown: &[
            &["loss_function cross_entropy | targets_rms=250 outputs_rms=0.3"],
            &["loss_function mse_loss | targets_rms=250"],
        ],
    },
    Case {
        rule: Rule::ParametersNotReached,
        worst: State::Fault,
        faults: &[&[
            "reached | trainable=8 reached=4 without_gradient=4 not_reached=a.weight,a.bias",
        ]],
        sound: &[&["reached | trainable=8 reached=4 without_gradient=0"]],
        unknown: &[&["reached | trainable=8"]],
    },
    Case {
        rule: Rule::ParametersNotRegistered,
        worst: State::Fault,
        faults: &[&["reached model | trainable=8 foreign=6 foreign_shape=[64,~64]"]],
        sound: &[&["reached model | trainable=8 foreign=0"]],
        unknown: &[&["reached model | trainable=8"]],
    },
    Case {
        rule: Rule::OptimizerParameters,
        worst: State::Fault,
        faults: &[
            &[
                "optimizer_parameters Adam | held=6 of_model=4 others=2 missing=2 missing=head.weight,head.bias",
            ],
            &["optimizer_parameters Adam | held=6 of_model=0 others=6 missing=6"],
            &["optimizer_parameters SGD | held=6 of_model=6 others=0 missing=0 twice=2"],
            &[
                "optimizer_parameters Adam | held=6 missing=0 twice=6",
                "optimizer_parameters Adam#2 | held=6 missing=0 twice=6",
            ],
        ],
        sound: &[
            &["optimizer_parameters Adam | held=6 of_model=6 others=0 missing=0 twice=0"],
            // The optimizer of another model, as of a discriminator.
            &["optimizer_parameters Adam#2 | held=8 of_model=0 others=8 missing=0"],
        ],
        unknown: &[
            &["optimizer_parameters Adam | held=6"],
            // Copies of bfloat16 weights in float32, and weights that the program updates by itself.
            &["optimizer_parameters Adam | held=6 of_model=0 others=6 other_types=6 missing=6"],
            &["optimizer_parameters Adam | held=6 of_model=4 others=2 missing=2 missing_changed=2"],
        ],
    },
    Case {
        rule: Rule::GradientsNotCleared,
        worst: State::Fault,
        faults: &[&[
            "gradients_kept | updates=45 passes=45 kept=40 cleared_between=0 closure=0 models=1",
        ]],
        sound: &[
            &["gradients_kept | updates=45 passes=45 kept=2 closure=0 models=1"],
            &["gradients_kept | updates=45 passes=180 kept=20 closure=0 models=1"],
        ],
        unknown: &[
            &["gradients_kept | updates=45 passes=900 kept=44 closure=1 models=1"],
            &["gradients_kept | updates=45 passes=90 kept=44 closure=0 models=2"],
            &["gradients_kept | updates=2 passes=2 kept=1"],
            &["gradients_kept | updates=45"],
        ],
    },
    Case {
        rule: Rule::GradientsClearedBetween,
        worst: State::Fault,
        faults: &[&[
            "gradients_kept | updates=12 passes=48 kept=0 cleared_between=36 closure=0 models=1",
        ]],
        sound: &[&["gradients_kept | updates=12 passes=48 kept=0 cleared_between=1 closure=0"]],
        unknown: &[&["gradients_kept | updates=12 passes=48 cleared_between=36 closure=1"]],
    },
    Case {
        rule: Rule::Settings,
        worst: State::Fault,
        faults: &[
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0 updates=50"],
            &["optimizer_settings SGD~0 | lr=5000 highest_lr=5000 updates=50"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=1e-8 type=float16"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=0 type=float32"],
            &[
                "optimizer_settings Adam~0 | lr=0.001 weight_decay=0.1 decoupled=0 eps=1e-8 type=float32",
            ],
            &["optimizer_settings SGD~0 | lr=0.1 momentum=1"],
            &["module_setting bn | momentum=0.99 class=BatchNorm1d"],
        ],
        sound: &[
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0 updates=1"],
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0.001 updates=900"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=1e-8 type=float32"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=1e-8 type=bfloat16"],
            &["optimizer_settings AdamW~0 | lr=0.001 weight_decay=0.1 decoupled=1"],
            &["optimizer_settings SGD~0 | lr=0.001 weight_decay=0.1 momentum=0.9"],
        ],
        unknown: &[
            &["optimizer_settings Adam~0 | updates=50"],
            &["module_setting bn | momentum=0.1 class=BatchNorm1d"],
        ],
    },
    Case {
        rule: Rule::LearningRateGone,
        worst: State::Fault,
        faults: &[&[
            "optimizer_settings Adam~0 | lr=0.01 highest_lr=0.01 updates=1",
            "optimizer_settings Adam~0 | lr=0.000001 highest_lr=0.01 updates=60",
            "optimizer_settings Adam~0 | lr=0.00000001 highest_lr=0.01 updates=400",
        ]],
        sound: &[
            // A cosine that ends at 0.
            &[
                "optimizer_settings Adam~0 | lr=0.01 highest_lr=0.01 updates=1",
                "optimizer_settings Adam~0 | lr=0.005 highest_lr=0.01 updates=200",
                "optimizer_settings Adam~0 | lr=0 highest_lr=0.01 updates=400",
            ],
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0.01 highest_late_lr=0.005 updates=400"],
            // Restarts.
            &[
                "optimizer_settings Adam~0 | lr=0.000001 highest_lr=0.01 updates=100",
                "optimizer_settings Adam~0 | lr=0.01 highest_lr=0.01 updates=200",
                "optimizer_settings Adam~0 | lr=0.000001 highest_lr=0.01 updates=380",
                "optimizer_settings Adam~0 | lr=0.000001 highest_lr=0.01 updates=400",
            ],
        ],
        unknown: &[
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0.01 updates=9"],
            &["optimizer_settings Adam~0 | lr=0.01 updates=90"],
        ],
    },
    Case {
        rule: Rule::UpdateRoundedAway,
        worst: State::Fault,
        faults: &[
            &[
                "optimizer_settings Adam~0 | lr=1e-5 highest_lr=1e-5 lr_to_weight=0.0004 type=bfloat16",
            ],
            // The rate has decayed, and even its highest was too small.
            &[
                "optimizer_settings AdamW~0 | lr=1e-6 highest_lr=1e-5 lr_to_weight=0.00004 type=bfloat16",
            ],
        ],
        sound: &[
            &[
                "optimizer_settings Adam~0 | lr=1e-3 highest_lr=1e-3 lr_to_weight=0.04 type=bfloat16",
            ],
            &[
                "optimizer_settings Adam~0 | lr=1e-6 highest_lr=1e-3 lr_to_weight=0.00004 type=bfloat16",
            ],
        ],
        unknown: &[
            &[
                "optimizer_settings Adam~0 | lr=1e-5 highest_lr=1e-5 lr_to_weight=0.0004 type=float32",
            ],
            &[
                "optimizer_settings SGD~0 | lr=1e-5 highest_lr=1e-5 lr_to_weight=0.0004 type=bfloat16",
            ],
        ],
    },
    Case {
        rule: Rule::EvaluationMode,
        worst: State::Fault,
        faults: &[
            &["module_modes | passes=400 evaluation=360 module=net.bn class=BatchNorm1d"],
            &["module_modes | passes=400 evaluation=400 module=net.drop class=Dropout"],
        ],
        sound: &[&["module_modes | passes=400 evaluation=40 module=net.bn class=BatchNorm1d"]],
        unknown: &[
            &["module_modes | passes=4 evaluation=4"],
            &["module_modes | passes=400"],
        ],
    },
    Case {
        rule: Rule::ClippedBeforeUnscaling,
        worst: State::Fault,
        faults: &[
            &["clipping clip_grad_norm_ | calls=40 parameters=8 scaled=40"],
            &["clipping clip_grad_norm_ | calls=40 steps=40 norm_times_scale_near=0.97"],
        ],
        sound: &[
            &[
                "clipping clip_grad_norm_ | calls=40 parameters=8 scaled=0 steps=40 norm_times_scale_near=0.1",
            ],
            &["clipping clip_grad_norm_ | calls=5 steps=5 norm_times_scale_near=1"],
        ],
        unknown: &[&["clipping clip_grad_norm_ | calls=40 parameters=8"]],
    },
    Case {
        rule: Rule::ClippedNothing,
        worst: State::Fault,
        faults: &[&["clipping clip_grad_norm_ | calls=40 parameters=0"]],
        sound: &[&["clipping clip_grad_norm_ | calls=40 parameters=8 clipped=0"]],
        unknown: &[&["clipping clip_grad_norm_ | calls=1 parameters=0"]],
    },
    Case {
        rule: Rule::LossScaleCollapsed,
        worst: State::Fault,
        faults: &[&["clipping clip_grad_norm_ | calls=40 scale=1e-6"]],
        sound: &[&["clipping clip_grad_norm_ | calls=40 scale=1024 lowest_scale=512"]],
        unknown: &[&["clipping clip_grad_norm_ | calls=40"]],
    },
    Case {
        rule: Rule::LabelsShifted,
        worst: State::Fault,
        faults: &[
            &["targets cross_entropy | batches=6 equal_0=1 equal_1=0.06 equal_2=0.05"],
            &["targets cross_entropy | batches=6 equal_0=0.05 equal_1=0.06 equal_2=1"],
        ],
        sound: &[
            &["targets cross_entropy | batches=6 equal_0=0.05 equal_1=1 equal_2=0.05"],
            // One token, repeated.
            &["targets cross_entropy | batches=6 equal_0=1 equal_1=1 equal_2=1"],
            &["targets cross_entropy | batches=6 equal_0=0.15 equal_1=0.05 equal_2=0.05"],
        ],
        unknown: &[
            &["targets cross_entropy | batches=2 equal_0=1 equal_1=0"],
            &["targets cross_entropy | batches=9"],
        ],
    },
    Case {
        rule: Rule::LabelInFeatures,
        worst: State::Fault,
        faults: &[&["targets cross_entropy | correlation=-0.999 feature=3 samples=192"]],
        sound: &[&["targets cross_entropy | correlation=0.97 feature=3 samples=192"]],
        unknown: &[
            &["targets cross_entropy | correlation=1 feature=3 samples=8"],
            &["targets cross_entropy | samples=900"],
        ],
    },
    Case {
        rule: Rule::OneLabel,
        worst: State::Fault,
        faults: &[
            &[
                "targets cross_entropy | batches=6 labels=384 classes_seen=1 most_common=0 most_common_share=1",
            ],
            &[
                "targets cross_entropy | batches=6 labels=384 classes_seen=6 most_common_share=0.17 batches_of_one_label=6",
            ],
        ],
        sound: &[&[
            "targets cross_entropy | batches=6 labels=384 classes_seen=10 most_common_share=0.2 batches_of_one_label=0",
        ]],
        unknown: &[
            &["targets mse_loss | batches=6 labels=384 classes_seen=1"],
            &["targets cross_entropy | batches=6 labels=6 classes_seen=1"],
            &["targets cross_entropy | batches=6"],
        ],
    },
    Case {
        rule: Rule::InputScale,
        worst: State::Fault,
        faults: &[&["inputs x | batches=6 largest_rms=4254 smallest_rms=0.001"]],
        sound: &[&["inputs x | batches=6 largest_rms=255 smallest_rms=0"]],
        unknown: &[&["inputs x | batches=6"]],
    },
    Case {
        rule: Rule::RepeatedBatch,
        worst: State::Note,
        faults: &[&["inputs x | batches=20 different=1"]],
        sound: &[&["inputs x | batches=20 different=2"]],
        unknown: &[&["inputs x | batches=4 different=1"]],
    },
    Case {
        rule: Rule::SeededInLoop,
        worst: State::Fault,
        faults: &[&[
            "gradients_kept | updates=40",
            "seeds manual_seed | calls=41 calls_in_loop=40",
        ]],
        sound: &[&[
            "gradients_kept | updates=400",
            "seeds manual_seed | calls=11 calls_in_loop=10",
        ]],
        unknown: &[&["seeds manual_seed | calls=11 calls_in_loop=10"]],
    },
    Case {
        rule: Rule::EmbeddingOneRow,
        worst: State::Fault,
        faults: &[&["embedding pos | rows=64 rows_with_gradient=1 looks=9 row=0"]],
        sound: &[&["embedding pos | rows=64 rows_with_gradient=32 looks=9"]],
        unknown: &[
            &["embedding types | rows=2 rows_with_gradient=1 looks=9"],
            &["embedding pos | rows=64 rows_with_gradient=1 looks=2"],
        ],
    },
    Case {
        rule: Rule::TieBroken,
        worst: State::Fault,
        faults: &[&["tied a~=~b | equal_first=1 equal=0"]],
        sound: &[&["tied a~=~b | equal_first=1 equal=1"]],
        unknown: &[
            &["tied a~=~b | equal_first=0 equal=0"],
            &["tied a~=~b | equal=0"],
        ],
    },
    Case {
        rule: Rule::NothingLoaded,
        worst: State::Fault,
        faults: &[&["loaded Net | keys=24 matched=0 missing=24 unexpected=24"]],
        sound: &[&["loaded Net | keys=24 matched=22 missing=2 unexpected=2"]],
        unknown: &[
            &["loaded Net | keys=0 matched=0"],
            &["loaded Net | keys=24"],
        ],
    },
    Case {
        rule: Rule::Shuffling,
        worst: State::Note,
        faults: &[&["data_loader Digits | batch_size=32 shuffle=0 sampler=SequentialSampler"]],
        sound: &[&[
            "data_loader Digits | shuffle=1 sampler=RandomSampler",
            "data_loader Held | shuffle=0 sampler=SequentialSampler",
        ]],
        unknown: &[
            &["data_loader Stream | shuffle=0 sampler=_InfiniteConstantSampler"],
            &["data_loader Held | shuffle=0 sampler=SequentialSampler training=0"],
        ],
    },
    Case {
        rule: Rule::PreflightProbe,
        worst: State::Fault,
        faults: &[&["probe future | result=failed says=the~mask~is~missing"]],
        sound: &[&["probe future | result=passed"]],
        unknown: &[&["probe future | result=not_tried"], &["probe future |"]],
    },
    Case {
        rule: Rule::OperationNotFinite,
        worst: State::Error,
        faults: &[&[
            "operation_not_finite log | not_finite=52 elements=192 bad_inputs=52 reason=52~of~192~inputs~of~log~are~0",
        ]],
        sound: &[],
        unknown: &[&["loss_function mse_loss | before=linear"]],
    },
    Case {
        rule: Rule::ProgramFailed,
        worst: State::Error,
        faults: &[&["failure RuntimeError | message=shapes~do~not~match"]],
        sound: &[],
        unknown: &[&["environment | python=x"]],
    },
];

#[test]
fn faults_are_found_and_lookalikes_are_not() {
    for case in CASES {
        let name = case.rule.name();
        for facts in case.faults {
            assert_eq!(
                state(facts, case.rule),
                Some(case.worst),
                "{name}: {facts:?}"
            );
        }
        for facts in case.sound {
            assert_eq!(
                state(facts, case.rule),
                Some(State::Fine),
                "{name}: {facts:?}"
            );
        }
        for facts in case.unknown {
            let state = state(facts, case.rule).unwrap_or(State::Unknown);
            assert_eq!(state, State::Unknown, "{name}: {facts:?}");
        }
    }
}

/// Facts that may be meant.
#[test]
fn what_may_be_meant_is_a_note() {
    for (facts, rule) in [
        (
            "reached | trainable=8 foreign=6 unregistered=0",
            Rule::ParametersNotRegistered,
        ),
        (
            "loss_function mse_loss | broadcast=1 outputs_shape=[64,~10] targets_shape=[10]",
            Rule::Broadcast,
        ),
        (
            "loss_function mse_loss | before=softmax",
            Rule::LossActivation,
        ),
        (
            "loss_function cross_entropy | before=log_softmax",
            Rule::LossActivation,
        ),
        (
            "optimizer_parameters Adam | held=4 of_model=4 others=0 missing=2",
            Rule::OptimizerParameters,
        ),
        (
            "module_modes | passes=90 evaluation=90 class=BatchNorm2d",
            Rule::EvaluationMode,
        ),
        (
            "targets cross_entropy | batches=6 labels=600 classes_seen=2 most_common_share=0.95",
            Rule::OneLabel,
        ),
        (
            "targets mse_loss | correlation=1 feature=0 samples=500",
            Rule::LabelInFeatures,
        ),
        (
            "probe initial_loss | result=failed says=far",
            Rule::PreflightProbe,
        ),
        ("failure KeyboardInterrupt |", Rule::ProgramFailed),
    ] {
        assert_eq!(state(&[facts], rule), Some(State::Note), "{facts}");
    }
    let wrapped = [
        "optimizer_parameters SAM | held=6 missing=0 twice=6",
        "optimizer_parameters SGD | held=6 missing=0 twice=6",
    ];
    assert_eq!(
        state(&wrapped, Rule::OptimizerParameters),
        Some(State::Note)
    );
    let ids: Vec<&str> = CONDITIONS.iter().map(|own| own.id).collect();
    assert!(CASES.iter().all(|case| ids.contains(&case.rule.name())));
}

/// Every rule that facts decide is in the table.
#[test]
fn every_rule_over_facts_has_a_case() {
    let only_of_graphs = [
        Rule::UnusedParameters,
        Rule::UselessBias,
        Rule::LinearLayers,
        Rule::Scaling,
    ];
    for rule in Rule::ALL
        .into_iter()
        .filter(|own| !only_of_graphs.contains(own))
    {
        assert!(
            CASES.iter().any(|case| case.rule == rule),
            "{}",
            rule.name()
        );
    }
}

#[test]
fn sentences_have_the_numbers() {
    let first = |facts: &str, rule| {
        let all = remarks(&[facts]).into_iter();
        let found = all
            .filter(|own| own.rule == rule)
            .map(|own| own.sentence.en);
        found.collect::<Vec<_>>().join("\n")
    };
    for (facts, rule, words) in [
        (
            "gradients_kept | updates=45 kept=40",
            Rule::GradientsNotCleared,
            &["40 of 45", "zero_grad() is missing"][..],
        ),
        (
            "reached | trainable=8 without_gradient=4 not_reached=a.weight,a.bias",
            Rule::ParametersNotReached,
            &["a.weight,a.bias and 2 more", "8 trainable"],
        ),
        (
            "operation_not_finite log | not_finite=52 elements=192 module=head reason=52~of~192~inputs~of~log~are~0 inputs_from=softmax",
            Rule::OperationNotFinite,
            &[
                "log in head makes 52 of 192 elements",
                "52 of 192 inputs of log are 0",
                "come from softmax",
            ],
        ),
        (
            "inputs x | largest_rms=4254 smallest_rms=0.001",
            Rule::InputScale,
            &["from 0.001 to 4,254", "normalize them"],
        ),
        (
            "failure ValueError | message=no~data",
            Rule::ProgramFailed,
            &["ValueError: no data"],
        ),
    ] {
        let said = first(facts, rule);
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}

/// Texts of a file are of any length, with any characters, and there may be any number of facts.
#[test]
fn hostile_facts_are_bounded() {
    let mut examiner = Examiner::default();
    for subject in 0..6_000 {
        let long = "x\n\u{1b}[31m".repeat(200);
        let fact = ProgramFact {
            kind: "failure".to_owned(),
            subject: format!("E{subject}"),
            numbers: vec![("calls".to_owned(), f64::NAN)],
            texts: vec![("message".to_owned(), long)],
            source: None,
        };
        let step = if subject % 2 == 0 { i64::MIN } else { i64::MAX };
        examiner.learn(subject % 7, &Context::Program { step, fact: &fact });
    }
    let remarks = examiner.remarks(Framework::Python);
    assert!((1_000..5_000).contains(&remarks.len()), "{}", remarks.len());
    for remark in remarks.iter().filter(|own| own.rule == Rule::ProgramFailed) {
        assert!(remark.sentence.en.len() < 400 && !remark.sentence.en.contains(char::is_control));
    }
    let not_numbers = "reached | trainable=NaN without_gradient=inf foreign=NaN";
    assert_eq!(state(&[not_numbers], Rule::ParametersNotReached), None);
}
