//! Health of a row next to its name, and the mark of the best row, which warns if the run has errors.

use trainscope_api::findings::{Health, Verdict};

use super::model::use_model;
use trainscope_web_kit::components::{fixed_icon, health_icon};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route::{self, RunPage};

/// Health of a row; a group has the health of its worst run.
fn worst(all: impl Iterator<Item = Health>) -> Option<Health> {
    all.max_by_key(|health| {
        let is_well = health.verdict == Verdict::NoProblem;
        (health.counts.error, health.counts.warning, !is_well)
    })
}

/// The sign of a row's health, and the mark of the best row.
#[component]
pub(super) fn HealthSign(
    /// Runs of the row.
    members: Memo<Option<Vec<String>>>,
    /// `true` for the row with the best result.
    is_best: Memo<bool>,
) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let health = Memo::new(move |_| {
        let members = members.get()?;
        let all = members.iter();
        worst(all.filter_map(|run| model.state.run(run)?.health))
    });
    let has_errors = Memo::new(move |_| {
        health.with(|health| {
            health
                .as_ref()
                .is_some_and(|health| health.counts.error > 0)
        })
    });
    let href = move || {
        let run = members.with(|members| members.as_ref()?.first().cloned())?;
        Some(route::run_href(&run, RunPage::Debugger))
    };
    let sign = move || {
        let health = health.get()?;
        let (class, icon) = health_icon(&health);
        let title = i18n.words(&health.summary);
        Some(view! {
            <a class=format!("sev {class}") href=href title=title.clone() aria-label=title data-part="health">
                {fixed_icon(icon, 12)}
            </a>
        })
    };
    let best = move || {
        let texts = i18n.texts().lineage();
        if has_errors.get() {
            texts.best_with_errors
        } else {
            texts.best
        }
    };
    view! {
        {sign}
        <Show when=move || is_best.get()>
            <span class="tok lt-best" class:err=move || has_errors.get() data-part="best">
                {best}
            </span>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::findings::Counts;

    #[test]
    fn a_group_is_as_healthy_as_its_worst_run() {
        let run = |error, verdict| Health {
            counts: Counts {
                error,
                ..Counts::default()
            },
            verdict,
            ..Health::default()
        };
        let all = [
            run(0, Verdict::NoProblem),
            run(0, Verdict::InPart),
            run(2, Verdict::Problem),
        ];
        let of = |count: usize| worst(all.iter().take(count).cloned()).map(|health| health.verdict);
        let expected = [
            None,
            Some(Verdict::NoProblem),
            Some(Verdict::InPart),
            Some(Verdict::Problem),
        ];
        assert_eq!([0, 1, 2, 3].map(of), expected);
    }
}
