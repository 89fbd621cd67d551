//! One card: a tag of all shown runs, side by side, at one step.

use trainscope_api::paths;
use trainscope_api::records::{Audio, Images};
use trainscope_format::{Kind, PrCurve};

use super::audio::Clips;
use super::curve::Curves;
use super::difference::references;
use super::image::Pictures;
use super::load::{CardRecords, SeriesRecord};
use super::settings::Settings;
use super::step::{OwnStep, step_text};
use super::text::{Texts, found};
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::components::{CardFault, FullButton, RunChip};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Card(settings: Settings, tag: String) -> impl IntoView {
    let tag = StoredValue::new(tag);
    let series = Memo::new(move |_| {
        let entry = tag.with_value(|tag| settings.browse.entry(tag));
        entry.map(|entry| entry.series).unwrap_or_default()
    });
    // A tag usually has the same kind in all runs; otherwise the first series decides.
    let kind = series.with_untracked(|series| series.first().map(|id| id.kind));
    let series = Memo::new(move |_| {
        let mut series = series.get();
        series.retain(|id| Some(id.kind) == kind);
        series
    });
    match kind {
        Some(Kind::Images) => {
            let loading = CardRecords::<Images>::start(settings, tag, series, paths::IMAGES);
            let pointed = RwSignal::new(None);
            let references = references(settings, tag, loading.shown);
            let cell = move |shown: SeriesRecord<Images>| {
                let id = shown.id;
                let other = Signal::derive(move || references.with(|all| all.get(&id).cloned()));
                view! {
                    <Pictures
                        settings=settings
                        tag=tag
                        record=shown.record
                        other=other
                        pointed=pointed
                    />
                }
                .into_any()
            };
            frame(settings, tag, loading, cell).into_any()
        }
        Some(Kind::Audio) => {
            let loading = CardRecords::<Audio>::start(settings, tag, series, paths::AUDIO);
            let cell =
                |shown: SeriesRecord<Audio>| view! { <Clips record=shown.record /> }.into_any();
            frame(settings, tag, loading, cell).into_any()
        }
        Some(Kind::PrCurves) => {
            let loading = CardRecords::<PrCurve>::start(settings, tag, series, paths::PR_CURVES);
            let (shown, steps) = (loading.shown, loading.steps);
            let (is_fetching, has_failed) = (loading.is_fetching, loading.has_failed);
            let body = view! { <Curves settings=settings tag=tag shown=shown /> };
            around(
                settings,
                tag,
                steps,
                is_fetching,
                has_failed,
                body.into_any(),
            )
            .into_any()
        }
        _ => {
            let loading = CardRecords::start(settings, tag, series, paths::MARKDOWN);
            let cell = move |shown: SeriesRecord<trainscope_api::markdown::Markdown>| {
                let id = shown.id.clone();
                view! {
                    {found(settings, tag, id)}
                    <Texts settings=settings record=shown.record />
                }
                .into_any()
            };
            frame(settings, tag, loading, cell).into_any()
        }
    }
}

/// The runs of a card side by side, each with its name and its step.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the frame owns what it shows"
)]
fn frame<T: Clone + Send + Sync + 'static>(
    settings: Settings,
    tag: StoredValue<String>,
    loading: CardRecords<T>,
    cell: impl Fn(SeriesRecord<T>) -> AnyView + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let i18n = use_i18n();
    let (shown, is_fetching) = (loading.shown, loading.is_fetching);
    let is_alone = Memo::new(move |_| shown.with(Vec::len) == 1);
    let place = |one: &SeriesRecord<T>| {
        let record = one.record.as_ref();
        record.map(|record| (record.step, record.wall_time_secs))
    };
    // A clip plays on while records of other runs arrive.
    let key = move |one: &SeriesRecord<T>| {
        let place = place(one).map(|(step, wall_time)| (step, wall_time.to_bits()));
        (one.id.clone(), place, i18n.locale() as u8)
    };
    let whole = move |one: SeriesRecord<T>| {
        let place = place(&one);
        let when = move || {
            let (step, wall_time) = place?;
            let texts = i18n.texts().recorded();
            let wanted = tag.with_value(|tag| settings.step_of(tag));
            Some(view! {
                <span data-part="step">{step_text(step, wanted, texts.step, texts.nearest)}</span>
                <span class="ink3">{format::moment(wall_time)}</span>
            })
        };
        let id = one.id.clone();
        let name = move || (!is_alone.get()).then(|| name(&id));
        let run = one.id.run.clone();
        let empty = move || {
            // An answer may have no record.
            let is_empty = place.is_none() && !is_fetching.get();
            is_empty.then(|| i18n.texts().overview().no_record)
        };
        view! {
            <div class="cell" data-run=run>
                <div class="names micro ink2" data-part="names">{name} {when} {empty}</div>
                {cell(one)}
            </div>
        }
    };
    let body = view! {
        <div class="cells">
            <For each=move || shown.get() key children=whole />
        </div>
    };
    around(
        settings,
        tag,
        loading.steps,
        loading.is_fetching,
        loading.has_failed,
        body.into_any(),
    )
}

fn name(id: &SeriesId) -> impl IntoView + use<> {
    let run = id.run.clone();
    view! {
        <span class="flex">
            <RunChip run=run />
            {id.label()}
        </span>
    }
}

/// Head and foot of a card.
fn around(
    settings: Settings,
    tag: StoredValue<String>,
    steps: Memo<std::sync::Arc<Vec<i64>>>,
    is_fetching: Signal<bool>,
    has_failed: Signal<bool>,
    body: AnyView,
) -> impl IntoView {
    let is_full = Signal::derive(move || {
        settings
            .full
            .with(|full| tag.with_value(|tag| full.as_ref() == Some(tag)))
    });
    view! {
        <section
            class="card scalar-card"
            class:fetching=move || is_fetching.get()
            aria-busy=move || is_fetching.get().to_string()
            data-tag=tag.get_value()
            aria-label=tag.get_value()
        >
            <div class="head">
                <h2 class="cut" title=tag.get_value()>
                    {tag.get_value()}
                </h2>
                <span class="grow"></span>
                <CardFault has_failed=has_failed is_drawn=Signal::derive(move || steps.with(|steps| !steps.is_empty())) />
                <OwnStep settings=settings tag=tag steps=steps />
                <span class="acts">
                    <FullButton
                        is_full=is_full
                        on_press=move || {
                            let wanted = tag.get_value();
                            settings.set_full((!is_full.get_untracked()).then_some(&*wanted));
                        }
                    />
                </span>
            </div>
            <div class="body">
                {body}
            </div>
        </section>
    }
}
