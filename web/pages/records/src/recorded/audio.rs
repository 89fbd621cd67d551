//! Sound of one step, decoded by the browser.

use std::sync::Arc;

use leptos::html;
use trainscope_api::records::{At, Audio};

use super::wave::Waveform;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{IconButton, IconName};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{RecordedTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// All clips of a record, with rate, channels, length and label.
#[component]
pub(super) fn Clips(record: Option<Arc<At<Audio>>>) -> impl IntoView {
    let i18n = use_i18n();
    let Some(record) = record else {
        return ().into_any();
    };
    let body = &record.body;
    let said = Arc::clone(&record);
    let facts = move || facts(&said.body, i18n.texts().recorded());
    let clips = body.items.iter().enumerate().map(|(index, item)| {
        let address = client::blob_url(&item.id);
        let link = address.clone();
        let is_broken = RwSignal::new(false);
        let player = NodeRef::<html::Audio>::new();
        let progress = RwSignal::new(0.0);
        let is_playing = RwSignal::new(false);
        // Without a waveform to click, the controls of the browser are shown.
        let has_wave = RwSignal::new(false);
        let toggle = move || {
            let Some(player) = player.get_untracked() else {
                return;
            };
            if player.paused() {
                // The `error` event reports a clip that cannot be played.
                let _started = player.play();
            } else {
                // Pausing fails only while nothing is loaded.
                let _paused = player.pause();
            }
        };
        let on_time = move |_| {
            if let Some(player) = player.get_untracked() {
                let share = player.current_time() / player.duration();
                progress.set(if share.is_finite() { share } else { 0.0 });
            }
        };
        let id = item.id.clone();
        let label = body.labels.get(index).cloned().unwrap_or_default();
        let (facts, len_bytes) = (facts.clone(), item.len_bytes);
        let caption = move || format!("{} · {}", facts(), format::bytes(len_bytes));
        view! {
            <figure class="clip">
                <div class="flex">
                    <Show when=move || has_wave.get()>
                        <IconButton
                            icon=Signal::derive(move || {
                                if is_playing.get() { IconName::Pause } else { IconName::Play }
                            })
                            label=Signal::derive(move || {
                                let texts = i18n.texts().recorded();
                                let is_playing = is_playing.get();
                                if is_playing { texts.pause_clip } else { texts.play_clip }
                                    .to_owned()
                            })
                            on_press=toggle
                        />
                    </Show>
                    <Waveform
                        id=id
                        len_bytes=len_bytes
                        player=player
                        progress=progress
                        has_wave=has_wave
                    />
                </div>
                <audio
                    node_ref=player
                    on:timeupdate=on_time
                    on:play=move |_| is_playing.set(true)
                    on:pause=move |_| is_playing.set(false)
                    on:ended=move |_| is_playing.set(false)
                    controls=move || !has_wave.get()
                    preload="metadata"
                    src=address
                    hidden=move || is_broken.get()
                    on:error=move |_| is_broken.set(true)
                ></audio>
                <Show when=move || is_broken.get()>
                    <p class="small warn">
                        {i18n.text(|t| t.recorded().no_sound)} " "
                        <a class="link" href=link.clone() download="">
                            {i18n.text(|t| t.recorded().bytes)}
                        </a>
                    </p>
                </Show>
                <figcaption class="micro ink3">{caption}</figcaption>
                <p class="small ink2">{label}</p>
            </figure>
        }
    });
    view! { <div class="clips">{clips.collect_view()}</div> }.into_any()
}

/// Rate, length, channels and media type, each if the writer gives it.
fn facts(body: &Audio, texts: &RecordedTexts) -> String {
    let mut facts: Vec<String> = Vec::new();
    let rate = body.sample_rate_hz;
    if let Some(rate) = rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
        facts.push(format!("{} Hz", format::number(rate, 0)));
        if let Some(frames) = body.frames {
            facts.push(format!("{} s", format::number(frames as f64 / rate, 2)));
        }
    }
    match body.channels {
        Some(1) => facts.push(texts.mono.to_owned()),
        Some(2) => facts.push(texts.stereo.to_owned()),
        Some(channels) => facts.push((texts.channels)(channels)),
        None => {}
    }
    facts.push(body.content_type.clone());
    facts.join(" · ")
}
