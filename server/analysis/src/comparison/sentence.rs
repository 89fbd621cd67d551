//! Sentence that tells where two runs diverge, the same for the command, the API, the report and the page.

use trainscope_api::Sentence;
use trainscope_format::Role;
use trainscope_format::digits::{count, integer, number};

/// Significant digits of a difference.
const DIGITS: usize = 2;

/// Facts about two runs for the sentence. Names are those on display.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Names of both runs.
    pub runs: [String; 2],
    /// Relative tolerance.
    pub tolerance: f64,
    /// First difference beyond the tolerance.
    pub first: Option<First>,
    /// Later differences of runs that already differ at their first common step.
    pub later: Later,
    /// First value of a scalar that is not finite in one run only: which run, value, step, name.
    pub not_finite: Option<(usize, f64, i64, String)>,
    /// Largest difference at the same step in another tensor or scalar that parts there or stays within the tolerance.
    pub elsewhere: Option<f64>,
    /// First parting of a scalar: name, step, and both values.
    pub scalar: Option<(String, i64, f64, f64)>,
    /// Largest difference within the tolerance: its size, step and name.
    pub largest: Option<(f64, i64, String)>,
    /// True if everything compared is equal to the bit.
    pub is_same: bool,
    /// Number of tensors in both runs.
    pub tensors: u64,
    /// True if a tensor parts at any step.
    pub tensors_part: bool,
    /// Number of tensors in both runs whose shapes differ.
    pub other_shapes: u64,
    /// Number of scalars in both runs.
    pub scalars: u64,
    /// Number of steps in both runs.
    pub common_steps: u64,
    /// First and last common step.
    pub steps: Option<(i64, i64)>,
    /// Number of tensors and tags of each run alone, with an example.
    pub only: [(u64, Option<String>); 2],
    /// True if a run still grows.
    pub is_growing: bool,
    /// Last step up to which tensors were read, while reading is not finished.
    pub read_until: Option<Option<i64>>,
    /// Number of settings that differ, and of all settings.
    pub settings: (u64, u64),
}

/// Differences after the first step, of runs that differ there.
#[derive(Clone, Debug, Default)]
pub enum Later {
    /// There is no noise to compare with.
    #[default]
    Unknown,
    /// No later difference exceeds the noise.
    Noise,
    /// The first one beyond the noise.
    Beyond(First),
}

/// First difference of two runs.
#[derive(Clone, Debug, Default)]
pub struct First {
    /// Step of the base.
    pub step: i64,
    /// Name of the tensor or scalar.
    pub name: String,
    /// Role of a tensor; `None` for a scalar.
    pub role: Option<Role>,
    /// Relative difference.
    pub difference: f64,
    /// True if the difference is one of statistics.
    pub by_statistics: bool,
    /// True if the shapes differ there.
    pub has_other_shape: bool,
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Name of a tensor with its role.
fn subject(first: &First) -> (String, String) {
    let name = &first.name;
    let (en, zh) = match first.role {
        Some(Role::Weight | Role::FrozenWeight) => ("weight ", "权重 "),
        Some(Role::Gradient) => ("gradient ", "梯度 "),
        Some(Role::Activation | Role::Output) => ("activation ", "激活值 "),
        Some(Role::Input) => ("input ", "输入 "),
        Some(Role::OptimizerState) => ("optimizer state ", "优化器状态 "),
        Some(Role::Loss | Role::Other) => ("", "张量 "),
        None => ("scalar ", "标量 "),
    };
    (format!("{en}{name}"), format!("{zh}{name}"))
}

impl Facts {
    /// The sentence.
    pub fn sentence(&self) -> Sentence {
        match &self.first {
            Some(first) => self.parted(first),
            None if self.tensors + self.scalars == 0 || self.common_steps == 0 => self.nothing(),
            None => self.equal(),
        }
    }

    fn parted(&self, first: &First) -> Sentence {
        let step = integer(first.step);
        let (name, name_zh) = subject(first);
        let is_noisy = self.is_from_start() && self.not_finite.is_some();
        if is_noisy || self.beyond().is_some() {
            return self.beyond_noise();
        }
        if self.is_in_scalars_only() {
            return Sentence::new(
                format!("They differ only in scalars, from step {step}, first in {name}."),
                format!("两者仅标量不同：自迭代 {step} 起，最先是{name_zh}。"),
            );
        }
        if self.is_from_start() {
            return Sentence::new(
                format!("They differ from step {step}, first in {name}."),
                format!("两者自迭代 {step} 起不同，最先是{name_zh}。"),
            );
        }
        Sentence::new(
            format!("They diverge at step {step}, first in {name}."),
            format!("两者在迭代 {step} 出现差异，最先是{name_zh}。"),
        )
    }

    const fn beyond(&self) -> Option<&First> {
        match &self.later {
            Later::Beyond(first) => Some(first),
            Later::Unknown | Later::Noise => None,
        }
    }

    /// True if they differ at their first common step.
    fn is_from_start(&self) -> bool {
        let first = self.first.as_ref().map(|first| first.step);
        first.is_some() && first == self.steps.map(|steps| steps.0)
    }

    /// The sentence about runs that differ from the start: their later differences matter.
    fn beyond_noise(&self) -> Sentence {
        let beyond = self.beyond().map(|beyond| {
            let (step, (name, name_zh)) = (integer(beyond.step), subject(beyond));
            (
                format!("The first step beyond that noise is {step}: {name}"),
                format!("首个超出该噪声的迭代是 {step}：{name_zh}"),
            )
        });
        let odd = self.not_finite.as_ref().map(|(run, value, step, name)| {
            let (run, value, step) = (&self.runs[*run], number(*value, DIGITS), integer(*step));
            (
                format!("{name} of {run} is {value} at step {step}"),
                format!("{run} 的 {name} 在迭代 {step} 为 {value}"),
            )
        });
        let (en, zh): (Vec<String>, Vec<String>) = beyond.into_iter().chain(odd).unzip();
        Sentence::new(
            format!(
                "They differ from the start (other seed or settings). {}.",
                en.join("; ")
            ),
            format!(
                "两者从一开始就不同（随机种子或设置不同）。{}。",
                zh.join("；")
            ),
        )
    }

    /// True if there are tensors in both runs, all were read, and only scalars differ.
    pub fn is_in_scalars_only(&self) -> bool {
        let is_parted = self.first.is_some() && !self.tensors_part;
        is_parted && self.tensors > 0 && self.read_until.is_none()
    }

    fn nothing(&self) -> Sentence {
        let side = |at: usize| {
            let (names, example) = &self.only[at];
            let run = &self.runs[at];
            let names = count(*names);
            match example {
                Some(example) => (
                    format!("{run} has {names}, such as {example}"),
                    format!("{run} 有 {names} 个，如 {example}"),
                ),
                None => (format!("{run} has none"), format!("{run} 没有")),
            }
        };
        if self.tensors + self.scalars > 0 {
            return Sentence::new(
                "They have no step in common, so there is nothing to compare.".to_owned(),
                "两者没有相同的迭代，无从对比。".to_owned(),
            );
        }
        let [(a, a_zh), (b, b_zh)] = [side(0), side(1)];
        Sentence::new(
            format!("They have no tensor and no tag in common: {a}; {b}."),
            format!("两者没有相同的张量或标签：{a_zh}；{b_zh}。"),
        )
    }

    fn equal(&self) -> Sentence {
        if let Some(until) = self.read_until {
            return match until {
                Some(step) => Sentence::new(
                    format!(
                        "They are equal up to step {}; later tensors are being read.",
                        integer(step)
                    ),
                    format!("到迭代 {} 为止相同；之后的张量正在读取。", integer(step)),
                ),
                None => Sentence::new(
                    "Their tensors are being read.".to_owned(),
                    "正在读取两者的张量。".to_owned(),
                ),
            };
        }
        if self.is_growing {
            let last = integer(self.steps.map_or(0, |steps| steps.1));
            return Sentence::new(
                format!("They are equal so far, up to step {last}."),
                format!("到目前为止相同，直到迭代 {last}。"),
            );
        }
        if let Some((difference, step, name)) = &self.largest {
            let (size, step) = (number(*difference, DIGITS), integer(*step));
            return Sentence::new(
                format!(
                    "They are equal within the tolerance: at most {size} apart, at step {step} in {name}."
                ),
                format!("两者在容差之内相同：最大相差 {size}，在迭代 {step} 的 {name}。"),
            );
        }
        if self.is_same {
            return Sentence::new(
                "They are equal to the bit.".to_owned(),
                "两者逐位相同。".to_owned(),
            );
        }
        Sentence::new("They are equal.", "两者相同。")
    }

    /// Further facts below the sentence.
    pub fn detail(&self) -> Sentence {
        let mut all = Sentence::default();
        let mut add = |en: String, zh: String| {
            if !all.en.is_empty() {
                all.en.push(' ');
            }
            all.en.push_str(&en);
            all.zh.push_str(&zh);
        };
        match &self.first {
            Some(first) => {
                let (en, zh) = self.size(first);
                add(en, zh);
                let is_told = first.role.is_none() || self.is_from_start();
                if let Some((name, step, a, b)) = self.scalar.as_ref().filter(|_| !is_told) {
                    add_scalar(&mut add, &self.runs, name, *step, *a, *b);
                }
                if matches!(self.later, Later::Noise) {
                    add(
                        "No later difference exceeds that noise.".to_owned(),
                        "之后没有超出该噪声的差异。".to_owned(),
                    );
                }
            }
            None if self.tensors + self.scalars > 0 && self.common_steps > 0 => {
                let values = plural(
                    self.tensors + self.scalars,
                    "tensor or scalar was compared at",
                    "tensors and scalars were compared at",
                );
                let steps = plural(self.common_steps, "common step", "common steps");
                add(
                    format!(
                        "{values} {steps}; tolerance {}.",
                        tolerance(self.tolerance).0
                    ),
                    format!(
                        "在 {} 个共同的迭代上对比了 {} 个张量和标量；容差 {}。",
                        count(self.common_steps),
                        count(self.tensors + self.scalars),
                        tolerance(self.tolerance).1
                    ),
                );
            }
            None => {}
        }
        let (differ, all_settings) = self.settings;
        if all_settings > 0 {
            add(
                format!(
                    "Settings that differ: {} of {}.",
                    count(differ),
                    count(all_settings)
                ),
                format!(
                    "{} 项设置中有 {} 项不同。",
                    count(all_settings),
                    count(differ)
                ),
            );
        }
        all
    }

    /// Size of the first difference, and of others at its step.
    fn size(&self, first: &First) -> (String, String) {
        if first.has_other_shape {
            return (
                format!(
                    "Their shapes differ, as those of {}: these are not comparable.",
                    plural(self.other_shapes, "tensor", "tensors in all")
                ),
                format!(
                    "形状不同的张量共 {} 个，无法逐元素对比。",
                    count(self.other_shapes)
                ),
            );
        }
        let size = number(first.difference, DIGITS);
        let (place, place_zh) = match self.beyond() {
            Some(_) => {
                let (step, (name, name_zh)) = (integer(first.step), subject(first));
                (
                    format!(" of {name} at step {step}:"),
                    format!("迭代 {step} 的{name_zh}"),
                )
            }
            None => Default::default(),
        };
        let mut en = format!("Relative difference{place} {size}");
        let mut zh = match place_zh.as_str() {
            "" => format!("该处相对差异 {size}"),
            place => format!("{place}相对差异 {size}"),
        };
        if first.by_statistics {
            en.push_str(" (from statistics)");
            zh.push_str("（按统计量）");
        }
        if let Some(elsewhere) = self.elsewhere {
            let size = number(elsewhere, DIGITS);
            en += &[", up to ", &size, " in other tensors of that step"].concat();
            zh += &["，该迭代其他张量最大 ", &size].concat();
        }
        (en + ".", zh + "。")
    }
}

/// Tolerance in words.
fn tolerance(tolerance: f64) -> (String, String) {
    if tolerance == 0.0 {
        return ("none".to_owned(), "无".to_owned());
    }
    let size = trainscope_format::digits::exact(tolerance);
    (format!("relative {size}"), format!("相对 {size}"))
}

fn add_scalar(
    add: &mut impl FnMut(String, String),
    runs: &[String; 2],
    name: &str,
    step: i64,
    a: f64,
    b: f64,
) {
    let step = integer(step);
    let odd = [(0, a), (1, b)]
        .into_iter()
        .find(|(_, value)| !value.is_finite())
        .filter(|_| a.is_finite() || b.is_finite());
    match odd {
        Some((at, value)) => {
            let (run, value) = (&runs[at], number(value, DIGITS));
            add(
                format!("{name} diverges at step {step}, where {run} is {value}."),
                format!("{name} 在迭代 {step} 出现差异，{run} 在此为 {value}。"),
            );
        }
        None => add(
            format!("{name} diverges at step {step}."),
            format!("{name} 在迭代 {step} 出现差异。"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            runs: ["bf16".to_owned(), "fp16".to_owned()],
            tolerance: 0.01,
            tensors: 16,
            scalars: 2,
            common_steps: 1_184,
            steps: Some((0, 1_183)),
            settings: (2, 18),
            ..Facts::default()
        }
    }

    fn first(role: Option<Role>) -> First {
        First {
            step: 398,
            name: "d3/query".to_owned(),
            role,
            difference: 0.014,
            ..First::default()
        }
    }

    #[test]
    fn every_form_has_its_words() {
        let parted = Facts {
            first: Some(first(Some(Role::Gradient))),
            tensors_part: true,
            elsewhere: Some(0.0031),
            scalar: Some(("loss".to_owned(), 412, 5.0, f64::NAN)),
            ..facts()
        };
        assert_eq!(
            parted.sentence().en,
            "They diverge at step 398, first in gradient d3/query."
        );
        assert_eq!(
            parted.detail().en,
            "Relative difference 0.014, up to 0.0031 in other tensors of that step. loss diverges at step 412, where \
             fp16 is NaN. Settings that differ: 2 of 18."
        );
        let scalars = Facts {
            first: Some(first(None)),
            ..facts()
        };
        assert!(
            scalars
                .sentence()
                .en
                .starts_with("They differ only in scalars, from step 398, first in")
        );
        let no_tensors = Facts {
            tensors: 0,
            ..scalars
        };
        assert!(
            no_tensors
                .sentence()
                .en
                .starts_with("They diverge at step 398")
        );
        let start = Facts {
            steps: Some((398, 400)),
            ..parted
        };
        assert_eq!(
            start.sentence().en,
            "They differ from step 398, first in gradient d3/query."
        );
        let noisy = Facts {
            later: Later::Beyond(First {
                step: 406,
                ..first(None)
            }),
            not_finite: Some((1, f64::NAN, 412, "loss".to_owned())),
            ..start.clone()
        };
        assert_eq!(
            noisy.sentence().en,
            "They differ from the start (other seed or settings). The first step beyond that noise is 406: scalar \
             d3/query; loss of fp16 is NaN at step 412."
        );
        assert!(noisy.detail().en.starts_with(
            "Relative difference of gradient d3/query at step 398: 0.014, up to 0.0031 in other tensors"
        ));
        let quiet = Facts {
            later: Later::Noise,
            ..start.clone()
        };
        assert!(
            quiet
                .detail()
                .en
                .contains("No later difference exceeds that noise.")
        );
        let within = Facts {
            largest: Some((0.0031, 3, "loss".to_owned())),
            ..facts()
        };
        assert!(
            within
                .sentence()
                .en
                .contains("at most 0.0031 apart, at step 3 in loss")
        );
        let growing = Facts {
            is_growing: true,
            ..facts()
        };
        assert_eq!(
            growing.sentence().en,
            "They are equal so far, up to step 1,183."
        );
        let same = Facts {
            is_same: true,
            ..facts()
        };
        assert_eq!(same.sentence().zh, "两者逐位相同。");
        let nothing = Facts {
            tensors: 0,
            scalars: 0,
            only: [(3, Some("x".to_owned())), (0, None)],
            ..facts()
        };
        assert_eq!(
            nothing.sentence().en,
            "They have no tensor and no tag in common: bf16 has 3, such as x; fp16 has none."
        );
        for facts in [start, noisy, quiet, within, growing, same, nothing] {
            assert!(!facts.sentence().zh.is_empty() && !facts.detail().zh.is_empty());
        }
    }

    #[test]
    fn other_shapes_are_named() {
        let facts = Facts {
            first: Some(First {
                has_other_shape: true,
                difference: f64::INFINITY,
                ..first(Some(Role::Weight))
            }),
            other_shapes: 12,
            ..facts()
        };
        assert!(facts.detail().en.contains("12 tensors in all"));
    }
}
