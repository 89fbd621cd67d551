//! Facts of each rule: faults, sound ones that come close, and those that do not tell.

use trainscope_analysis::diagnosis::{Rule, State};

/// A rule, with facts that are a fault, facts that are sound, and facts that do not tell.
pub(super) struct Case {
    pub(super) rule: Rule,
    pub(super) worst: State,
    pub(super) faults: &'static [&'static [&'static str]],
    pub(super) sound: &'static [&'static [&'static str]],
    pub(super) unknown: &'static [&'static [&'static str]],
}

pub(super) const CASES: &[Case] = &[
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
            &["loss_function cross_entropy | before=linear wrong_axis=1 outputs_shape=[32,~4]"],
            // The only loss, with the wrong sign.
            &[
                "loss_function cross_entropy | before=linear signed_passes=20 negative_passes=20",
                "optimizer_settings SGD~0 | lr=0.1 maximize=0 updates=20",
            ],
            &[
                "loss_function mse_loss | before=linear signed_passes=20 negative_passes=0",
                "optimizer_settings SGD~0 | lr=0.1 maximize=1 updates=20",
            ],
        ],
        sound: &[
            &["loss_function cross_entropy | before=linear wrong_axis=0 outputs_shape=[32,~4]"],
            &[
                "loss_function cross_entropy | before=linear signed_passes=20 negative_passes=20",
                "optimizer_settings SGD~0 | lr=0.1 maximize=1 updates=20",
            ],
            // Of two losses or two models, one may be made larger on purpose.
            &[
                "loss_function cross_entropy | before=linear signed_passes=20 negative_passes=20",
                "loss_function mse_loss | before=linear signed_passes=20 negative_passes=0",
                "optimizer_settings SGD~0 | lr=0.1 updates=20",
            ],
            &[
                "loss_function cross_entropy | before=linear signed_passes=20 negative_passes=20",
                "optimizer_settings SGD~0 | lr=0.1 updates=20",
                "optimizer_settings SGD#2~0 | lr=0.1 updates=20",
            ],
            &[
                "loss_function mse_loss | before=linear signed_passes=20 negative_passes=9",
                "optimizer_settings SGD~0 | lr=0.1 updates=20",
            ],
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
            &["updates_by_hand | passes=40 changed=0"],
            &[
                "optimizer_parameters Adam | held=4 of_model=4 others=0 missing=0 twice=4",
                "optimizer_parameters Adam#2 | held=4 of_model=4 others=0 missing=0 twice=4",
                "reached | trainable=4 reached=4 without_gradient=0 foreign=4 unregistered=0",
            ],
        ],
        sound: &[
            &["optimizer_parameters Adam | held=6 of_model=6 others=0 missing=0 twice=0"],
            &["updates_by_hand | passes=40 changed=39"],
            // The optimizer of another model, as of a discriminator.
            &["optimizer_parameters Adam#2 | held=8 of_model=0 others=8 missing=0"],
        ],
        unknown: &[
            &["optimizer_parameters Adam | held=6"],
            &["updates_by_hand | passes=5 changed=0"],
            // Copies of bfloat16 weights in float32, and weights that the program updates itself.
            &["optimizer_parameters Adam | held=6 of_model=0 others=6 other_types=6 missing=6"],
            &["optimizer_parameters Adam | held=6 of_model=4 others=2 missing=2 missing_changed=2"],
        ],
    },
    Case {
        rule: Rule::GradientsNotCleared,
        worst: State::Fault,
        faults: &[
            &["gradients_kept | updates=45 passes=45 kept=40 cleared_between=0 closure=0 models=1"],
            // The losses of the generator leave gradients in the discriminator, too.
            &[
                "gradients_kept Disc | updates=45 passes=90 kept=44 closure=0 models=2 followed_updates=45 never_cleared=44",
            ],
        ],
        sound: &[
            &[
                "gradients_kept Disc | updates=45 passes=90 kept=44 closure=0 models=2 followed_updates=45 never_cleared=1",
            ],
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
            &["optimizer_settings Adam~0 | lr=1 highest_lr=1 lr_to_weight=16 type=float32"],
            // A warm-up to a rate that is too high.
            &[
                "optimizer_settings AdamW~0 | lr=0.01 highest_lr=0.01 lr_to_weight=0.2 updates=1",
                "optimizer_settings AdamW~0 | lr=0.1 highest_lr=1 lr_to_weight=2 updates=90",
            ],
            &["module_setting bn | momentum=0.99 class=BatchNorm1d"],
        ],
        sound: &[
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0 updates=1"],
            &["optimizer_settings Adam~0 | lr=0 highest_lr=0.001 updates=900"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=1e-8 type=float32"],
            &["optimizer_settings Adam~0 | lr=0.001 eps=1e-8 type=bfloat16"],
            &["optimizer_settings AdamW~0 | lr=0.001 weight_decay=0.1 decoupled=1"],
            &["optimizer_settings Adam~0 | lr=0.1 highest_lr=0.1 lr_to_weight=1.6 type=float32"],
            // Its updates have the size of the gradient.
            &["optimizer_settings SGD~0 | lr=1 highest_lr=1 lr_to_weight=16 type=float32"],
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
        faults: &[
            &["inputs x | batches=6 largest_rms=4254 smallest_rms=0.001"],
            &["layer_input conv1 | batches=6 lowest=0 highest=255 whole=1 features=784"],
        ],
        sound: &[
            &["inputs x | batches=6 largest_rms=255 smallest_rms=0"],
            // The model divides bytes itself.
            &[
                "inputs x | batches=6 largest_rms=255 smallest_rms=0",
                "layer_input conv1 | batches=6 lowest=0 highest=1 whole=0 features=784",
            ],
        ],
        unknown: &[
            &["inputs x | batches=6"],
            // Counts of a table, and pixels of 16 levels.
            &["layer_input fc | batches=6 lowest=0 highest=200 whole=1 features=12"],
            &["layer_input fc | batches=6 lowest=0 highest=16 whole=1 features=64"],
            &["layer_input fc | batches=6 lowest=-200 highest=200 whole=1 features=64"],
        ],
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
        rule: Rule::WaitsForDevice,
        worst: State::Note,
        faults: &[&["time_by_line train.py:42 | steps=6 seconds=0.03 calls=12 waits=6 wait=item"]],
        sound: &[
            &["time_by_line train.py:42 | steps=6 seconds=0.03 calls=12 waits=2 wait=item"],
            &["time_by_line train.py:42 | steps=6 seconds=0.03 calls=12 waits=0"],
        ],
        unknown: &[
            &["time_by_line train.py:42 | steps=2 seconds=0.03 calls=12 waits=2 wait=item"],
            &["time_by_line train.py:42 | steps=6 seconds=0.03 calls=12"],
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
