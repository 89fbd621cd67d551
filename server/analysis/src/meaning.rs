//! Meaning of a scalar, inferred from its tag: loss, learning rate, …

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Meaning {
    Loss,
    HeldOutLoss,
    Accuracy,
    HeldOutAccuracy,
    LearningRate,
    GradientNorm,
    LossScale,
    /// Objective of reinforcement learning: the reward, or the return of an episode.
    Return,
    /// A measure of answers other than the accuracy, best at 1: precision, recall, mAP, `IoU`, F1, Dice, AUC.
    Score,
    /// Estimated divergence of the new policy from the old one in an update.
    PolicyChange,
    /// Share of samples for which an update of the policy was clipped.
    ClippedShare,
    ActionEntropy,
    /// Divergence of a distribution from its prior: a term of a loss.
    Divergence,
}

/// Words of held-out data.
const HELD_OUT: [&str; 7] = [
    "val",
    "valid",
    "validation",
    "eval",
    "evaluation",
    "test",
    "dev",
];

/// Words of a whole loss. Others name a part of one.
const WHOLE: [&str; 11] = [
    "loss", "nll", "cost", "total", "train", "training", "epoch", "step", "batch", "scalar", "auto",
];

/// Losses by which `CatBoost` names its curves, in lower case: the whole tag, or its part before the parameters.
const BOOSTED: [&str; 14] = [
    "logloss",
    "crossentropy",
    "multiclass",
    "multiclassonevsall",
    "rmse",
    "multirmse",
    "mae",
    "mape",
    "quantile",
    "poisson",
    "huber",
    "tweedie",
    "expectile",
    "focal",
];

/// Words of scores: names of Keras, torchmetrics, YOLO and Detectron2.
const SCORES: [&str; 11] = [
    "precision",
    "recall",
    "map50",
    "map75",
    "iou",
    "miou",
    "f1",
    "dice",
    "auc",
    "auroc",
    "ap",
];

/// Words of coefficients and targets of an entropy, which are constant on purpose.
const NO_ENTROPY: [&str; 9] = [
    "cross",
    "coef",
    "coeff",
    "coefficient",
    "alpha",
    "target",
    "bonus",
    "weight",
    "beta",
];

/// Words of coefficients of a divergence, and of those of an update of a policy.
const NO_DIVERGENCE: [&str; 9] = [
    "old",
    "coef",
    "coeff",
    "coefficient",
    "beta",
    "target",
    "weight",
    "annealing",
    "ratio",
];

/// Words of losses that may rise in a healthy training: those of reinforcement learning, which change with the states
/// that the policy visits (names of Stable-Baselines3, `RLlib` and `CleanRL`), of two adversarial networks (the DCGAN
/// example of `PyTorch`), and terms that counterbalance another one.
const RELATIVE: [&str; 34] = [
    "td",
    "q",
    "qf",
    "critic",
    "value",
    "v",
    "vf",
    "policy",
    "pg",
    "pi",
    "actor",
    "advantage",
    "surrogate",
    "entropy",
    "ent",
    "alpha",
    "d",
    "g",
    "disc",
    "discriminator",
    "gen",
    "generator",
    "adv",
    "adversarial",
    "gan",
    "kl",
    "kld",
    "aux",
    "commit",
    "commitment",
    "reg",
    "regularization",
    "penalty",
    "balance",
];

/// Doubt added for such a loss: any other loss is more likely minimised.
const RELATIVE_DOUBT: u8 = 8;

/// Doubt added for a loss with a name of `CatBoost`: if there is another loss, it is a metric.
pub(crate) const BOOSTED_DOUBT: u8 = 4;

/// Doubt added for a part of a loss.
const PART_DOUBT: u8 = 1;

/// True for the name of a curve of `CatBoost`, in lower case: `rmse`, `quantile:alpha=0.5`, `test/logloss`.
fn is_boosted(lower: &str) -> bool {
    let name = lower.strip_prefix("test/").unwrap_or(lower);
    BOOSTED.contains(&name.split(':').next().unwrap_or(name))
}

/// True for the words of a tag of held-out data.
pub(crate) fn is_held_out(words: &[&str]) -> bool {
    words.iter().any(|word| HELD_OUT.contains(word))
}

/// Words of a tag in lower case.
pub(crate) fn words_of(lower: &str) -> Vec<&str> {
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}

/// The most likely meaning of a tag, and its doubt: of several tags the lowest doubt wins. `None` for scalars that are
/// not judged.
pub(crate) fn meaning_of(tag: &str) -> Option<(Meaning, u8)> {
    let lower = tag.to_ascii_lowercase();
    let words = words_of(&lower);
    let has = |word: &str| words.contains(&word);
    let has_any = |of: &[&str]| of.iter().any(|word| has(word));
    let held_out = is_held_out(&words);
    let extra = u8::try_from(words.len()).unwrap_or(u8::MAX);
    let meaning = if has("approxkl") || has("approx") && has("kl") && !has("old") {
        Meaning::PolicyChange
    } else if has("clipfrac") || has("clip") && has_any(&["frac", "fraction"]) {
        Meaning::ClippedShare
    } else if has("scale") && has_any(&["loss", "grad", "scaler"]) || has("lossscale") {
        Meaning::LossScale
    } else if has_any(&["lr", "learningrate"]) || has("learning") && has("rate") {
        Meaning::LearningRate
    } else if has("norm") && has_any(&["grad", "gradient", "grads", "gradients"])
        || has_any(&["gradnorm", "gnorm"])
    {
        Meaning::GradientNorm
    } else if has_any(&["loss", "nll", "cost"]) || is_boosted(&lower) {
        if held_out {
            Meaning::HeldOutLoss
        } else {
            Meaning::Loss
        }
    } else if has_any(&["accuracy", "acc", "top1"]) {
        if held_out {
            Meaning::HeldOutAccuracy
        } else {
            Meaning::Accuracy
        }
    } else if has_any(&["reward", "rewards", "return", "returns", "rew", "eprewmean"]) {
        Meaning::Return
    } else if has("entropy") && !has_any(&NO_ENTROPY) {
        Meaning::ActionEntropy
    } else if has_any(&["kl", "kld"]) && !has_any(&NO_DIVERGENCE) && !held_out {
        Meaning::Divergence
    } else if has_any(&SCORES)
        // Layers have maps of features.
        || has("map") && (held_out || tag.contains("mAP") || words.len() == 1)
    {
        Meaning::Score
    } else {
        return None;
    };
    let doubt = if meaning == Meaning::Loss && is_relative(&words) {
        RELATIVE_DOUBT
    } else if is_boosted(&lower) {
        BOOSTED_DOUBT
    } else if meaning == Meaning::Loss && !words.iter().all(|word| WHOLE.contains(word)) {
        PART_DOUBT
    } else {
        0
    };
    Some((meaning, extra.saturating_add(doubt)))
}

pub(crate) fn is_relative(words: &[&str]) -> bool {
    let digits = |c: char| c.is_ascii_digit();
    words
        .iter()
        .any(|word| RELATIVE.contains(&word.trim_end_matches(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headline;

    #[test]
    fn tags_of_several_frameworks_say_what_they_are() {
        for (tag, meaning) in [
            ("loss/train", Some(Meaning::Loss)),
            ("train/loss", Some(Meaning::Loss)),
            ("loss", Some(Meaning::Loss)),
            ("val_loss", Some(Meaning::HeldOutLoss)),
            ("loss/val", Some(Meaning::HeldOutLoss)),
            ("dev/loss", Some(Meaning::HeldOutLoss)),
            ("dev/accuracy", Some(Meaning::HeldOutAccuracy)),
            ("glossary", None),
            ("val/accuracy", Some(Meaning::HeldOutAccuracy)),
            ("train/accuracy", Some(Meaning::Accuracy)),
            ("learning_rate", Some(Meaning::LearningRate)),
            ("train/lr", Some(Meaning::LearningRate)),
            ("grad_norm", Some(Meaning::GradientNorm)),
            ("loss_scale", Some(Meaning::LossScale)),
            ("rollout/ep_rew_mean", Some(Meaning::Return)),
            ("Logloss", Some(Meaning::Loss)),
            ("test/RMSE", Some(Meaning::HeldOutLoss)),
            ("Quantile:alpha=0.9", Some(Meaning::Loss)),
            ("val/rmse", None),
            ("metrics/mAP_0.5", Some(Meaning::Score)),
            ("metrics/mAP50-95(B)", Some(Meaning::Score)),
            ("val/f1", Some(Meaning::Score)),
            ("feature_map", None),
            ("train/approx_kl", Some(Meaning::PolicyChange)),
            ("losses/old_approx_kl", None),
            ("train/kl", Some(Meaning::Divergence)),
            ("kl_coef", None),
            ("train/clip_fraction", Some(Meaning::ClippedShare)),
            ("losses/entropy", Some(Meaning::ActionEntropy)),
            ("ent_coef", None),
            ("layer_norm", None),
            ("steps_per_second", None),
        ] {
            assert_eq!(meaning_of(tag).map(|m| m.0), meaning, "{tag}");
        }
    }

    #[test]
    fn the_training_loss_comes_first_then_a_held_out_one() {
        for (tags, expected) in [
            (&["loss/val", "loss/train", "lr"][..], Some("loss/train")),
            (
                &["epoch_loss", "evaluation_loss_vs_iterations"],
                Some("epoch_loss"),
            ),
            (
                &["loss/scalar", "learning_rate/scalar"],
                Some("loss/scalar"),
            ),
            (
                &["train/grad_norm", "train/loss_scale", "train/loss", "loss"],
                Some("loss"),
            ),
            (
                &["dev/loss", "model/encoder/loss"],
                Some("model/encoder/loss"),
            ),
            (&["dev/loss", "val/accuracy"], Some("dev/loss")),
            (&["val_loss"], Some("val_loss")),
            (&["loss_cls", "total_loss"], Some("total_loss")),
            (
                &["Loss/localization_loss", "Loss/total_loss"],
                Some("Loss/total_loss"),
            ),
            (
                &["loss/kl", "loss/image/reconstruction"],
                Some("loss/image/reconstruction"),
            ),
            (&["AUC", "Logloss"], Some("Logloss")),
            (&["RMSE", "train/loss"], Some("train/loss")),
            (&["RMSE", "val_loss"], Some("RMSE")),
            (&["lr", "loss/learning_rate"], None),
        ] {
            assert_eq!(headline::loss(tags.iter().copied()), expected, "{tags:?}");
        }
    }

    #[test]
    fn curves_of_optimizers_have_a_meaning_and_the_first_one_is_judged() {
        for (tags, meaning) in [
            (
                ["learning_rate", "learning_rate/1", "Adam2/learning_rate"],
                Meaning::LearningRate,
            ),
            (
                ["grad_norm", "grad_norm/shard", "Adam2/grad_norm"],
                Meaning::GradientNorm,
            ),
        ] {
            let found = tags.map(|tag| meaning_of(tag).filter(|found| found.0 == meaning));
            assert!(found.iter().all(Option::is_some), "{tags:?}");
            assert!(found[0] < found[1] && found[0] < found[2], "{tags:?}");
        }
    }

    #[test]
    fn the_load_of_the_machine_is_judged_as_no_result() {
        let tags = [
            "system/cpu_percent",
            "system/memory_gb",
            "system/memory_percent",
            "system/disk_free_gb",
            "system/network_received_mb_s",
            "system/network_sent_mb_s",
            "system/process_cpu_percent",
            "system/process_memory_gb",
            "system/process_read_mb_s",
            "system/process_written_mb_s",
            "system/gpu_0_percent",
            "system/gpu_0_memory_gb",
            "system/gpu_0_celsius",
            "system/gpu_0_watts",
            "system/npu_0_1_percent",
        ];
        for tag in tags {
            assert_eq!(meaning_of(tag), None, "{tag}");
            assert_eq!(headline::direction(tag), None, "{tag}");
        }
        assert_eq!(headline::loss(tags.into_iter()), None);
        assert_eq!(headline::metric(tags.into_iter()), None);
    }

    #[test]
    fn losses_that_may_rise_are_known_by_their_names() {
        for (tag, is_it) in [
            ("loss/td", true),
            ("losses/qf1_loss", true),
            ("train/value_loss", true),
            ("loss_D", true),
            ("train/loss", false),
            ("loss/total", false),
        ] {
            let lower = tag.to_ascii_lowercase();
            assert_eq!(is_relative(&words_of(&lower)), is_it, "{tag}");
        }
    }
}
