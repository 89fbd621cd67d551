//! Loss and main metric of a run, for the columns of the run list.
//!
//! Only names are available. The words are those that Keras, Lightning, MindSpore and the examples of PyTorch use for
//! their tags.

pub use trainscope_api::table::Direction;

use crate::meaning::{Meaning, is_held_out, meaning_of, words_of};

/// The tag that is most likely the training loss, else a held-out loss.
pub fn loss<'a>(tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    best(tags, |tag| match meaning_of(tag)? {
        (meaning @ (Meaning::Loss | Meaning::HeldOutLoss), doubt) => Some((meaning, doubt)),
        _ => None,
    })
}

/// The tag that is most likely the main metric of the training.
pub fn metric<'a>(tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    best(tags, metric_rank)
}

/// Lowest rank wins, then the shortest name, then the alphabet.
fn best<'a, R: Ord>(
    tags: impl Iterator<Item = &'a str>,
    rank: impl Fn(&str) -> Option<R>,
) -> Option<&'a str> {
    tags.filter_map(|tag| Some((rank(tag)?, tag.len(), tag)))
        .min()
        .map(|(_, _, tag)| tag)
}

/// Better end of a result by its name; `None` if the name does not show it.
pub fn direction(tag: &str) -> Option<Direction> {
    if loss([tag].into_iter()).is_some() {
        return Some(Direction::Less);
    }
    let lower = tag.to_ascii_lowercase();
    words_of(&lower)
        .into_iter()
        .rev()
        .find_map(|word| match word {
            "perplexity" | "ppl" | "error" | "err" | "mae" | "mse" | "rmse" | "wer" | "cer"
            | "fid" => Some(Direction::Less),
            "accuracy" | "acc" | "top1" | "top5" | "map" | "map50" | "miou" | "iou" | "f1"
            | "auc" | "bleu" | "rouge" | "dice" | "psnr" | "ssim" | "reward" | "score"
            | "precision" | "recall" => Some(Direction::More),
            _ => None,
        })
}

fn metric_rank(tag: &str) -> Option<u8> {
    let lower = tag.to_ascii_lowercase();
    let words = words_of(&lower);
    let rank = words.iter().find_map(|word| match *word {
        "accuracy" | "acc" | "top1" => Some(0),
        "map" | "map50" | "miou" | "iou" | "f1" | "auc" | "bleu" | "rouge" | "dice" => Some(2),
        "perplexity" | "ppl" | "psnr" | "reward" | "score" => Some(4),
        _ => None,
    })?;
    Some(rank + u8::from(!is_held_out(&words)))
}

#[cfg(test)]
mod tests {
    use super::{Direction, direction, metric};

    #[test]
    fn names_say_the_better_end_or_nothing_is_best() {
        assert_eq!(direction("eval/loss"), Some(Direction::Less));
        assert_eq!(direction("Accuracy"), Some(Direction::More));
        assert_eq!(direction("val/perplexity"), Some(Direction::Less));
        assert_eq!(direction("train/loss_scale"), None);
        assert_eq!(direction("samples"), None);
    }

    #[test]
    fn a_held_out_metric_comes_before_one_on_training_data() {
        assert_eq!(
            metric(["train/acc", "dev/accuracy", "eval/bleu"].into_iter()),
            Some("dev/accuracy")
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
