//! A row of the table of hits.

use trainscope_api::findings::{Hit, HitSeries};

use super::super::numbers::{found, step_range, steps};
use trainscope_web_kit::components::{IconName, fixed_icon, severity_icon, severity_name};
use trainscope_web_kit::i18n::{Locale, Texts};
use trainscope_web_kit::prelude::*;

/// Marker next to the name of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Nothing,
    /// Probable first cause.
    First,
    /// Number of hits that follow from it.
    Explains(u64),
}

impl Mark {
    pub(super) fn of(explains: Option<u64>) -> Self {
        explains
            .filter(|&hits| hits > 0)
            .map_or(Self::Nothing, Self::Explains)
    }
}

pub(super) struct Row {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) mark: Mark,
    pub(super) is_selected: bool,
    /// `true` below another hit of the same tensor at the same step.
    pub(super) is_again: bool,
}

impl Row {
    pub(super) fn view(self, hit: &Hit, locale: Locale, texts: Texts) -> AnyView {
        let (class, icon) = severity_icon(hit.severity);
        let [mut quantity, value, limit] = found(hit, locale);
        if !quantity.is_empty() {
            quantity.push(' ');
        }
        let whole = format!("{quantity}{value}");
        let (mark_class, mark) = match self.mark {
            Mark::Nothing => ("", String::new()),
            Mark::First => ("tok cut first", texts.debugger().first.to_owned()),
            Mark::Explains(hits) => ("tok cut explains", (texts.debugger().explains)(hits)),
        };
        let place = format!("{}, {} {}", hit.tensor, texts.frame().step, steps(hit));
        view! {
            <tr
                class=if self.is_selected { "hit-row cur" } else { "hit-row" }
                class:again=self.is_again
                aria-selected=self.is_selected.to_string()
                data-at=self.at.to_string()
                data-severity=severity_name(hit.severity)
            >
                <td class=class>{fixed_icon(icon, 12)}</td>
                <td title=place>
                    <div class="hit-name">
                        <button type="button" class="plain cut">
                            <bdi>{self.name}</bdi>
                        </button>
                        <span
                            class=mark_class
                            title=mark.clone()
                            data-part=(self.mark == Mark::First).then_some("first-cause")
                        >
                            {mark.clone()}
                        </span>
                    </div>
                </td>
                <td class="ink2 cut" title=hit.condition.clone()>
                    {self.title}
                </td>
                <td class=format!("num med {class}") title=whole>
                    <div class="measured">
                        <span class="cut">{quantity}</span>
                        <span>{value}</span>
                    </div>
                </td>
                <td class="num ink3 cut" title=limit.clone()>{limit.clone()}</td>
            </tr>
        }
        .into_any()
    }
}

/// Row of a series of equal hits, which expands to them.
pub(super) fn series_row(
    series: &HitSeries,
    has_ranks: bool,
    is_selected: bool,
    texts: Texts,
) -> AnyView {
    let range = step_range((series.step, series.last_step));
    let [title, count] = (texts.debugger().series)(&range, series.steps);
    let rank = has_ranks.then(|| format!(" · {}", (texts.debugger().rank)(series.rank)));
    let icon = if series.is_open {
        IconName::Down
    } else {
        IconName::Right
    };
    view! {
        <tr class=if is_selected { "grouprow cur" } else { "grouprow" }>
            <td colspan="5">
                <button
                    type="button"
                    class="group-button"
                    aria-expanded=series.is_open.to_string()
                    data-series=series.key()
                >
                    <span class="ink3">{fixed_icon(icon, 12)}</span>
                    <b class="med">{title}</b>
                    <span class="ink3">{count} {rank}</span>
                </button>
            </td>
        </tr>
    }
    .into_any()
}
