//! Compute and collectives in one step of two ranks: a typical one and the slowest.

use std::sync::Arc;

use trainscope_api::profile::{RankTrack, StepPair};
use trainscope_charts::profile::{Figure, Hit, Row, Rows, Segment, Shade};

use super::super::model::{shade_of, time};
use super::super::parts::read_out;
use super::use_cluster;
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Strength of the colour of waiting, relative to the colour of the collective.
const PALE: f64 = 0.3;

/// The picture; nothing without two ranks that have a step in common. A press opens the step of the rank.
#[component]
pub(super) fn Pair() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let pair = Memo::new(move |_| cluster.with(|answer| answer.pair.clone()).flatten());
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let rows = pair.with(|pair| pair.as_ref().map(|pair| rows(pair, texts)));
        Arc::new(Figure::Rows(rows.unwrap_or_default()))
    });
    let title = move || {
        let texts = i18n.texts();
        pair.with(|pair| {
            let pair = pair.as_ref()?;
            let ranks: Vec<u32> = pair.tracks.iter().map(|track| track.rank).collect();
            let step = format::integer(pair.step);
            Some((texts.ranks().pair)(*ranks.first()?, *ranks.last()?, &step))
        })
        .unwrap_or_default()
    };
    // Two rows per rank.
    let track = move |hit: Hit| {
        pair.with(|pair| {
            let pair = pair.as_ref()?;
            Some((pair.step, pair.tracks.get(hit.index / 2)?.clone()))
        })
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let (_, track) = track(hit)?;
        let computed = track.compute.iter();
        let computed = computed.map(|phase| phase.end_nanos.saturating_sub(phase.begin_nanos));
        let collectives = track.collectives.iter();
        let waits = collectives.clone().map(|collective| {
            collective
                .arrived_nanos
                .saturating_sub(collective.begin_nanos)
        });
        let moved = collectives.map(|collective| {
            collective
                .end_nanos
                .saturating_sub(collective.arrived_nanos)
        });
        let rows = vec![
            (
                Some(Shade::Time(0)),
                texts.parts().kinds[0][0].to_owned(),
                time(computed.sum()),
            ),
            (
                Some(Shade::Pale(1, PALE)),
                texts.ranks().waits_for_others.to_owned(),
                time(waits.sum()),
            ),
            (
                Some(Shade::Time(1)),
                texts.parts().kinds[0][1].to_owned(),
                time(moved.sum()),
            ),
        ];
        let title = (texts.ranks().rank_name)(track.rank);
        Some(read_out(title, time(track.end_nanos), rows))
    };
    let press = move |hit: Hit| {
        if let Some((step, track)) = untrack(|| track(hit)) {
            let href = untrack(|| cluster.rank_href(track.rank, Some(step)));
            cluster.model.open(&href);
        }
    };
    move || {
        pair.with(Option::is_some).then(|| {
            view! {
                <p class="micro ink3 pair-title" title=move || i18n.texts().ranks().all_arrived>
                    {title}
                </p>
                <div class="plot pair">
                    <ProfileChart
                        figure
                        label=Signal::derive(title)
                        tip=Callback::new(tip)
                        on_press=Callback::new(press)
                    />
                </div>
            }
        })
    }
}

/// Two rows per rank, and a line at the end of the longest wait.
fn rows(pair: &StepPair, texts: Texts) -> Rows {
    let rows = pair.tracks.iter().flat_map(|track| {
        let compute = track.compute.iter().map(|phase| Segment {
            shade: shade_of(phase.kind),
            begin: phase.begin_nanos as f64,
            end: phase.end_nanos as f64,
        });
        let collectives = track.collectives.iter().flat_map(|collective| {
            let segment = |shade, begin: i64, end: i64| Segment {
                shade,
                begin: begin as f64,
                end: end as f64,
            };
            [
                segment(
                    Shade::Pale(1, PALE),
                    collective.begin_nanos,
                    collective.arrived_nanos,
                ),
                segment(
                    Shade::Time(1),
                    collective.arrived_nanos,
                    collective.end_nanos,
                ),
            ]
        });
        let name = |kind: usize| {
            format!(
                "{} {}",
                track.rank,
                texts.parts().kinds[0][kind].to_lowercase()
            )
        };
        [
            Row {
                text: name(0),
                segments: compute.collect(),
                ..Row::default()
            },
            Row {
                text: name(1),
                segments: collectives
                    .filter(|segment| segment.end > segment.begin)
                    .collect(),
                ..Row::default()
            },
        ]
    });
    Rows {
        rows: rows.collect(),
        line: pair.tracks.first().and_then(arrival),
        ..Rows::default()
    }
}

/// End of the longest wait of a rank.
fn arrival(track: &RankTrack) -> Option<f64> {
    let all = track.collectives.iter();
    let longest = all.max_by_key(|collective| {
        collective
            .arrived_nanos
            .saturating_sub(collective.begin_nanos)
    })?;
    Some(longest.arrived_nanos as f64)
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{MeetingRow, Phase};

    use super::*;
    use trainscope_web_kit::i18n::Locale;

    #[test]
    fn waiting_and_sending_of_each_rank_are_apart() {
        let track = |rank, begin_nanos| RankTrack {
            rank,
            compute: vec![Phase {
                end_nanos: begin_nanos,
                ..Phase::default()
            }],
            collectives: vec![MeetingRow {
                begin_nanos,
                arrived_nanos: 70,
                end_nanos: 90,
            }],
            end_nanos: 100,
        };
        let pair = StepPair {
            step: 4,
            tracks: vec![track(0, 50), track(5, 70)],
        };
        let found = rows(&pair, Locale::En.texts());
        let texts: Vec<&str> = found.rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(
            texts,
            ["0 compute", "0 collective", "5 compute", "5 collective"]
        );
        let counts: Vec<usize> = found.rows.iter().map(|row| row.segments.len()).collect();
        assert_eq!(counts, [1, 2, 1, 1], "the last rank does not wait");
        assert_eq!(found.line, Some(70.0));
    }
}
