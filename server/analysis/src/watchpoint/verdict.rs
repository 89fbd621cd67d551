//! The verdict about a run, and its sentence: both include the amount of data checked.

use trainscope_api::Sentence;
use trainscope_api::findings::Verdict;
use trainscope_format::Severity;
use trainscope_format::digits::count;

use super::catalogue::weights::FROZEN_WEIGHTS;
use super::model::finding::{Damage, Findings};
use super::model::missing::Missing;

impl Findings {
    /// The state of the run. Notes are not problems.
    pub fn verdict(&self) -> Verdict {
        let judged = self.judged;
        if self
            .hits
            .iter()
            .any(|hit| hit.severity >= Severity::Warning)
        {
            Verdict::Problem
        } else if judged.tensors > 0
            && judged.histograms == 0
            && self.damage.is_none()
            && !self.has_undecided_weights()
            && !self.is_first_look()
        {
            Verdict::NoProblem
        } else if judged.tensors + judged.scalars + judged.histograms + judged.profiles > 0 {
            Verdict::InPart
        } else {
            Verdict::Nothing
        }
    }

    /// True if weights are the same in too few steps to tell whether they learn.
    fn has_undecided_weights(&self) -> bool {
        let mut open = self.inconclusive.iter();
        open.any(|entry| entry.condition == &FROZEN_WEIGHTS)
    }

    /// True if a training was looked at once: nothing that shows over steps could be judged.
    fn is_first_look(&self) -> bool {
        self.is_of_training && self.has_one_look && self.judged.tensors > 0
    }

    /// The verdict in sentences: files that could not be read, then the first cause, else the amount of data checked
    /// and not checked.
    pub fn summary(&self) -> Sentence {
        let verdict = match self.verdict() {
            Verdict::Problem => self.problem(),
            Verdict::Nothing => self.nothing(),
            Verdict::InPart | Verdict::NoProblem => self.no_problem(),
        };
        match self.damaged() {
            None => verdict,
            Some(damaged) => Sentence {
                en: format!("{} {}", damaged.en, verdict.en),
                zh: format!("{}{}", damaged.zh, verdict.zh),
            },
        }
    }

    /// The state of files that could not be read in full, as a sentence.
    pub fn damaged(&self) -> Option<Sentence> {
        let Damage {
            files,
            file,
            offset,
            reason,
        } = self.damage.as_ref()?;
        let reason = reason.trim_end_matches('.');
        let (place, place_zh) = match offset {
            0 => (String::new(), String::new()),
            offset => (
                format!(", byte {}", count(*offset)),
                format!(" 第 {} 字节", count(*offset)),
            ),
        };
        Some(if *files == 1 {
            Sentence {
                en: format!("{file} could not be read in full{place}: {reason}."),
                zh: format!("{file}{place_zh}未能完整读取：{reason}。"),
            }
        } else {
            let files = count(*files);
            Sentence {
                en: format!(
                    "{files} files could not be read in full, the first is {file}{place}: {reason}."
                ),
                zh: format!("{files} 个文件未能完整读取，首个为 {file}{place_zh}：{reason}。"),
            }
        })
    }

    fn problem(&self) -> Sentence {
        if let Some(cause) = &self.first_cause {
            return cause.sentence.clone();
        }
        // The first cause was left out, by a baseline for example.
        let alarms = self
            .hits
            .iter()
            .filter(|hit| hit.severity >= Severity::Warning);
        let alarms = alarms.count() as u64;
        Sentence {
            en: format!("{} found.", plural(alarms, "problem")),
            zh: format!("发现 {} 个问题。", count(alarms)),
        }
    }

    fn nothing(&self) -> Sentence {
        let unread = self.unread.len() as u64;
        let lack = self
            .inconclusive
            .iter()
            .find_map(|entry| match entry.reason {
                Missing::Profile(lack) => Some(lack.words()),
                _ => None,
            });
        let (en, zh) = match self.judged.unwatched {
            0 if unread > 0 => (
                format!(
                    "{} of an unsupported element type",
                    plural(unread, "tensor")
                ),
                format!("{} 个张量的元素类型不受支持", count(unread)),
            ),
            0 if self.damage.is_some() => (
                "no tensor or scalar could be read".to_owned(),
                "没有可读取的张量或标量".to_owned(),
            ),
            0 => lack.map_or_else(
                || {
                    (
                        "no tensor or scalar was recorded".to_owned(),
                        "没有记录张量或标量".to_owned(),
                    )
                },
                |lack| (lack.en.to_owned(), lack.zh.to_owned()),
            ),
            tensors => (
                format!(
                    "no watchpoint is about the {} that were recorded",
                    plural(tensors, "tensor")
                ),
                format!("没有监测点适用于所记录的 {} 个张量", count(tensors)),
            ),
        };
        Sentence {
            en: format!("Nothing was checked: {en}."),
            zh: format!("未检查任何内容：{zh}。"),
        }
    }

    fn no_problem(&self) -> Sentence {
        let judged = self.judged;
        let notes = self.hits.len() as u64;
        let amounts = [
            (judged.tensors, "tensor", "个张量"),
            (judged.scalars, "scalar", "个标量"),
            (judged.profiles, "profile", "份性能分析"),
        ];
        let mut amounts: Vec<_> = amounts.into_iter().filter(|amount| amount.0 > 0).collect();
        let only_histograms = amounts.is_empty();
        if only_histograms {
            amounts.push((judged.histograms, "histogram", "个直方图"));
        }
        let en: Vec<String> = amounts
            .iter()
            .map(|amount| plural(amount.0, amount.1))
            .collect();
        let zh: Vec<String> = amounts
            .iter()
            .map(|amount| format!(" {} {}", count(amount.0), amount.2))
            .collect();
        let (en, zh) = (listed(&en), zh.join("和"));
        // A profile may be of a time without steps.
        let mut said = if judged.steps == 0 {
            Sentence {
                en: format!("No problems found in {en}; no steps were recorded."),
                zh: format!("在{zh}中未发现问题；未记录迭代。"),
            }
        } else {
            let (steps, steps_zh) = (plural(judged.steps, "step"), count(judged.steps));
            Sentence {
                en: format!("No problems found in {en} over {steps}."),
                zh: format!("在 {steps_zh} 个迭代的{zh}中未发现问题。"),
            }
        };
        let mut add = |en: String, zh: String| {
            said.en = format!("{} {en}", said.en);
            said.zh.push_str(&zh);
        };
        if judged.tensors == 0 {
            add(
                "No tensors were checked.".to_owned(),
                "未检查任何张量。".to_owned(),
            );
        }
        if self.is_first_look() {
            add(
                "Tensors were recorded at one step only: nothing over steps was judged.".to_owned(),
                "仅在一个迭代记录了张量：对跨迭代的变化未作判断。".to_owned(),
            );
        }
        if judged.histograms > 0 {
            let (en, verb) = (
                plural(judged.histograms, "histogram"),
                was(judged.histograms),
            );
            add(
                format!("{en} {verb} checked for NaN, Inf and unchanged weights only."),
                format!(
                    "{} 个直方图仅检查了 NaN、Inf 和未更新的权重。",
                    judged.histograms
                ),
            );
        }
        if judged.overwritten > 0 {
            let (en, verb) = (
                plural(judged.overwritten, "overwritten point"),
                was(judged.overwritten),
            );
            add(
                format!("{en} {verb} checked for NaN and Inf only."),
                format!(
                    "{} 个被覆盖的点仅检查了 NaN 和 Inf。",
                    count(judged.overwritten)
                ),
            );
        }
        if judged.unwatched > 0 {
            let (en, verb) = (plural(judged.unwatched, "tensor"), was(judged.unwatched));
            add(
                format!("{en} {verb} not checked: no watchpoint is about them."),
                format!(
                    "{} 个张量未检查：没有适用的监测点。",
                    count(judged.unwatched)
                ),
            );
        }
        let unread = self.unread.len() as u64;
        if unread > 0 {
            let (en, verb) = (plural(unread, "tensor"), was(unread));
            add(
                format!("{en} {verb} not checked: unsupported element type."),
                format!("{} 个张量未检查：元素类型不受支持。", count(unread)),
            );
        }
        if notes > 0 {
            add(
                format!("{}.", plural(notes, "note")),
                format!("{notes} 条提示。"),
            );
        }
        said
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

/// `1 step`, `1,200 steps`.
fn plural(of: u64, one: &str) -> String {
    format!("{} {one}{}", count(of), if of == 1 { "" } else { "s" })
}

const fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::findings::Coverage;

    #[test]
    fn points_that_a_restart_has_overwritten_are_named() {
        let findings = Findings {
            judged: Coverage {
                scalars: 1,
                overwritten: 1_200,
                steps: 80,
                ..Coverage::default()
            },
            ..Findings::default()
        };
        let expected = "No problems found in 1 scalar over 80 steps. No tensors were checked. 1,200 overwritten points \
                        were checked for NaN and Inf only.";
        assert_eq!(findings.summary().en, expected);
    }

    #[test]
    fn files_that_could_not_be_read_come_first_and_leave_no_tick() {
        let damage = |files, offset| Damage {
            files,
            file: "run/events.1".into(),
            offset,
            reason: "permission denied".into(),
        };
        let mut findings = Findings {
            damage: Some(damage(1, 0)),
            ..Findings::default()
        };
        let expected = "run/events.1 could not be read in full: permission denied. Nothing was checked: no tensor or \
                        scalar could be read.";
        assert_eq!(findings.summary().en, expected);
        findings.judged = Coverage {
            tensors: 2,
            steps: 9,
            ..Coverage::default()
        };
        findings.damage = Some(damage(3, 4_096));
        let expected = "3 files could not be read in full, the first is run/events.1, byte 4,096: permission denied. No \
                        problems found in 2 tensors over 9 steps.";
        assert_eq!(findings.summary().en, expected);
        assert_eq!(findings.verdict(), Verdict::InPart);
    }

    #[test]
    fn one_look_at_a_training_leaves_no_tick() {
        let mut findings = Findings {
            judged: Coverage {
                tensors: 3,
                steps: 1,
                ..Coverage::default()
            },
            has_one_look: true,
            ..Findings::default()
        };
        // A checkpoint has one step.
        assert_eq!(findings.verdict(), Verdict::NoProblem);
        assert_eq!(
            findings.summary().en,
            "No problems found in 3 tensors over 1 step."
        );
        findings.is_of_training = true;
        assert_eq!(findings.verdict(), Verdict::InPart);
        assert_eq!(
            findings.summary().en,
            "No problems found in 3 tensors over 1 step. Tensors were recorded at one step only: nothing over steps was judged."
        );
        findings.has_one_look = false;
        assert_eq!(findings.verdict(), Verdict::NoProblem);
    }

    fn of(tensors: u64, histograms: u64, scalars: u64, unwatched: u64) -> (Verdict, String) {
        let findings = Findings {
            judged: Coverage {
                tensors,
                histograms,
                scalars,
                unwatched,
                steps: 1_250,
                ..Coverage::default()
            },
            ..Findings::default()
        };
        (findings.verdict(), findings.summary().en)
    }

    #[test]
    fn the_sentence_tells_what_was_checked_and_what_was_not() {
        for (amounts, verdict, sentence) in [
            (
                (0, 0, 0, 0),
                Verdict::Nothing,
                "Nothing was checked: no tensor or scalar was recorded.",
            ),
            (
                (0, 0, 0, 3),
                Verdict::Nothing,
                "Nothing was checked: no watchpoint is about the 3 tensors that were recorded.",
            ),
            (
                (0, 0, 2, 0),
                Verdict::InPart,
                "No problems found in 2 scalars over 1,250 steps. No tensors were checked.",
            ),
            (
                (0, 9, 1, 0),
                Verdict::InPart,
                "No problems found in 1 scalar over 1,250 steps. No tensors were checked. 9 histograms were checked for \
                 NaN, Inf and unchanged weights only.",
            ),
            (
                (0, 1, 0, 0),
                Verdict::InPart,
                "No problems found in 1 histogram over 1,250 steps. No tensors were checked. 1 histogram was checked for \
                 NaN, Inf and unchanged weights only.",
            ),
            (
                (14, 0, 7, 2),
                Verdict::NoProblem,
                "No problems found in 14 tensors and 7 scalars over 1,250 steps. 2 tensors were not checked: no \
                 watchpoint is about them.",
            ),
        ] {
            let (tensors, histograms, scalars, unwatched) = amounts;
            let said = of(tensors, histograms, scalars, unwatched);
            assert_eq!(said, (verdict, sentence.to_owned()));
        }
    }
}
