//! Operations from the first one with a non-finite result to the loss.

use trainscope_api::program::ChainLink;

use super::place_of;
use super::texts::{self, TEXTS};
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;

/// The card; nothing without a chain.
pub(super) fn view(chain: &[ChainLink], i18n: I18n) -> Option<AnyView> {
    chain.first()?;
    let links = chain.iter().map(|link| one(link, i18n));
    let card = view! {
        <section class="card chain" data-part="chain">
            <div class="head ruled">
                <h2>{TEXTS.chain.read(i18n)}</h2>
                <span class="micro ink3 cut grow">{TEXTS.chain_of.read(i18n)}</span>
                <span class="legend micro ink3">
                    <i></i>
                    {TEXTS.finite.read(i18n)}
                    <i class="zero"></i>
                    "0"
                    <i class="inf"></i>
                    "Inf"
                    <i class="nan"></i>
                    "NaN"
                </span>
            </div>
            <ol>{links.collect::<Vec<AnyView>>()}</ol>
        </section>
    };
    Some(card.into_any())
}

fn one(link: &ChainLink, i18n: I18n) -> AnyView {
    let parts = parts(link).map(|(class, percent)| {
        view! { <i class=class style:width=format!("{percent:.2}%")></i> }
    });
    let left_out =
        (link.left_out > 0).then(|| view! { <em>{texts::left_out(link.left_out, i18n)}</em> });
    view! {
        <li class:first=link.is_first data-state=state(link)>
            {left_out}
            <div>
                <b>{link.operation.clone()}</b>
                <span class="micro ink3 cut">{link.module.clone()}</span>
                <span class="result">{i18n.words(&link.result)}</span>
                <span class="portions">{parts}</span>
            </div>
            <small>
                {link.source.as_ref().map(place_of)}
                {link.is_first.then(|| view! { <b>{TEXTS.first.read(i18n)}</b> })}
            </small>
        </li>
    }
    .into_any()
}

/// Worst class of elements in a result.
fn state(link: &ChainLink) -> &'static str {
    let has = |count: Option<u64>| count.is_some_and(|count| count > 0);
    if has(link.nan) {
        "nan"
    } else if has(link.infinite) {
        "inf"
    } else if has(link.zeros) {
        "zero"
    } else {
        "finite"
    }
}

/// Class and width in percent of the parts of the bar. Parts with elements have a minimum width.
fn parts(link: &ChainLink) -> [(&'static str, f64); 3] {
    const MIN_WIDTH: f64 = 6.0;
    let share = |count: Option<u64>| match (count, link.elements) {
        (Some(count @ 1..), Some(all @ 1..)) => {
            (100.0 * count as f64 / all as f64).clamp(MIN_WIDTH, 100.0)
        }
        _ => 0.0,
    };
    [
        ("nan", share(link.nan)),
        ("inf", share(link.infinite)),
        ("zero", share(link.zeros)),
    ]
}

#[cfg(test)]
mod tests {
    use trainscope_api::Sentence;

    use super::*;

    #[test]
    fn few_elements_are_seen_in_the_bar() {
        let link = ChainLink {
            operation: "log".into(),
            module: String::new(),
            is_first: true,
            left_out: 0,
            elements: Some(1_000_000),
            nan: Some(0),
            infinite: Some(1),
            zeros: Some(500_000),
            result: Sentence::default(),
            source: None,
        };
        assert_eq!(state(&link), "inf");
        assert_eq!(parts(&link), [("nan", 0.0), ("inf", 6.0), ("zero", 50.0)]);
        let unknown = ChainLink {
            elements: None,
            ..link
        };
        assert!(parts(&unknown).iter().all(|part| part.1 == 0.0));
    }
}
