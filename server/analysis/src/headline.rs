//! Loss and main metric of a run, for the columns of the run list.
//!
//! Only names are available. The words are those that Keras, Lightning, MindSpore and the examples of PyTorch use for
//! their tags.

pub use trainscope_api::table::Direction;

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

/// True for the name of a curve of `CatBoost`, in lower case: `rmse`, `quantile:alpha=0.5`, `test/logloss`.
pub(crate) fn is_boosted(lower: &str) -> bool {
    let name = lower.strip_prefix("test/").unwrap_or(lower);
    BOOSTED.contains(&name.split(':').next().unwrap_or(name))
}

/// The tag that is most likely the training loss.
pub fn loss<'a>(tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    best(tags, loss_rank)
}

/// The tag that is most likely the main metric of the training.
pub fn metric<'a>(tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    best(tags, metric_rank)
}

/// Lowest rank wins, then the shortest name, then the alphabet.
fn best<'a>(tags: impl Iterator<Item = &'a str>, rank: fn(&str) -> Option<u8>) -> Option<&'a str> {
    tags.filter_map(|tag| rank(&tag.to_ascii_lowercase()).map(|rank| (rank, tag.len(), tag)))
        .min()
        .map(|(_, _, tag)| tag)
}

/// The words of a tag, `train/total_loss` → `train`, `total`, `loss`.
fn words(tag: &str) -> impl DoubleEndedIterator<Item = &str> {
    tag.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

fn held_out(tag: &str) -> bool {
    words(tag).any(|word| {
        matches!(
            word,
            "val" | "valid" | "validation" | "eval" | "evaluation" | "test"
        )
    })
}

fn loss_rank(tag: &str) -> Option<u8> {
    if is_boosted(tag) {
        return Some(4);
    }
    if !words(tag).any(|word| matches!(word, "loss" | "nll" | "cost"))
        || words(tag).any(|word| word == "scale")
    {
        return None;
    }
    let train = words(tag).any(|word| matches!(word, "train" | "training"));
    let whole = words(tag).all(|word| {
        matches!(
            word,
            "train"
                | "training"
                | "loss"
                | "total"
                | "epoch"
                | "step"
                | "batch"
                | "scalar"
                | "auto"
        )
    });
    Some(match (whole, train, held_out(tag)) {
        (true, _, _) => 0,
        (false, true, _) => 1,
        (false, false, false) => 2,
        (false, false, true) => 3,
    })
}

/// Better end of a result by its name; `None` if the name does not show it.
pub fn direction(tag: &str) -> Option<Direction> {
    let tag = tag.to_ascii_lowercase();
    if loss_rank(&tag).is_some() {
        return Some(Direction::Less);
    }
    words(&tag).rev().find_map(|word| match word {
        "perplexity" | "ppl" | "error" | "err" | "mae" | "mse" | "rmse" | "wer" | "cer" | "fid" => {
            Some(Direction::Less)
        }
        "accuracy" | "acc" | "top1" | "top5" | "map" | "map50" | "miou" | "iou" | "f1" | "auc"
        | "bleu" | "rouge" | "dice" | "psnr" | "ssim" | "reward" | "score" | "precision"
        | "recall" => Some(Direction::More),
        _ => None,
    })
}

fn metric_rank(tag: &str) -> Option<u8> {
    let word = words(tag).find_map(|word| match word {
        "accuracy" | "acc" | "top1" => Some(0),
        "map" | "map50" | "miou" | "iou" | "f1" | "auc" | "bleu" | "rouge" | "dice" => Some(2),
        "perplexity" | "ppl" | "psnr" | "reward" | "score" => Some(4),
        _ => None,
    })?;
    Some(word + u8::from(!held_out(tag)))
}

#[cfg(test)]
mod tests {
    use super::{Direction, direction, loss, metric};

    #[test]
    fn names_say_the_better_end_or_nothing_is_best() {
        assert_eq!(direction("eval/loss"), Some(Direction::Less));
        assert_eq!(direction("Accuracy"), Some(Direction::More));
        assert_eq!(direction("val/perplexity"), Some(Direction::Less));
        assert_eq!(direction("train/loss_scale"), None);
        assert_eq!(direction("samples"), None);
    }

    #[test]
    fn the_training_loss_is_found_among_the_names_that_frameworks_write() {
        for (tags, expected) in [
            (vec!["loss/val", "loss/train", "lr"], Some("loss/train")),
            (
                vec!["epoch_loss", "evaluation_loss_vs_iterations"],
                Some("epoch_loss"),
            ),
            (
                vec!["loss/scalar", "learning_rate/scalar"],
                Some("loss/scalar"),
            ),
            (
                vec![
                    "train/grad_norm",
                    "train/loss_scale",
                    "train/loss",
                    "eval/loss",
                ],
                Some("train/loss"),
            ),
            (vec!["val_loss"], Some("val_loss")),
            (vec!["AUC", "Logloss"], Some("Logloss")),
            (vec!["glossary", "lr"], None),
        ] {
            assert_eq!(loss(tags.iter().copied()), expected, "{tags:?}");
        }
    }

    #[test]
    fn a_held_out_metric_comes_before_one_on_training_data() {
        assert_eq!(
            metric(["train/acc", "eval/accuracy", "eval/bleu"].into_iter()),
            Some("eval/accuracy")
        );
        assert_eq!(
            metric(["epoch_accuracy"].into_iter()),
            Some("epoch_accuracy")
        );
        let yolo = ["metrics/precision(B)", "metrics/mAP50(B)", "val/box_loss"];
        assert_eq!(metric(yolo.into_iter()), Some("metrics/mAP50(B)"));
        assert_eq!(metric(["loss"].into_iter()), None);
    }
}
