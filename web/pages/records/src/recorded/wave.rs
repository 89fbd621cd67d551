//! The waveform of a clip, with the position of the player.

use std::fmt::Write as _;
use std::io::Cursor;

use hound::{SampleFormat, WavReader};
use leptos::html;

use trainscope_web_kit::client;
use trainscope_web_kit::components::pointer::share;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;

/// Number of columns of the picture.
const COLUMNS: usize = 400;
/// Maximum size of a clip with a picture, bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Minimum and maximum of each column, −1 to 1, all channels together.
#[derive(Clone, Debug, Default, PartialEq)]
struct Wave {
    columns: Vec<(f32, f32)>,
    /// Number of samples that are not finite.
    non_finite: u64,
}

/// The waveform of a WAV clip; a click moves the player there. Empty for other formats, and above [`MAX_BYTES`].
#[component]
pub(super) fn Waveform(
    /// Id of the blob.
    id: String,
    len_bytes: u64,
    /// The audio element.
    player: NodeRef<html::Audio>,
    /// Played share of the clip, 0 to 1.
    progress: RwSignal<f64>,
    /// `true` if there is a picture; set by this component.
    has_wave: RwSignal<bool>,
) -> impl IntoView {
    let i18n = use_i18n();
    let key = Some(id).filter(|_| len_bytes <= MAX_BYTES);
    let wave = query(
        move || key.clone(),
        |id| async move { Ok(read(&client::blob(&id).await?, COLUMNS)) },
    );
    let wave = Memo::new(move |_| Option::clone(&*wave.answer.get()?));
    Effect::new(move || has_wave.set(wave.with(Option::is_some)));
    let plot = NodeRef::<html::Div>::new();
    let on_press = move |event: web_sys::PointerEvent| {
        let Some(((x, _), player)) = share(&event, plot).zip(player.get_untracked()) else {
            return;
        };
        let to = x.clamp(0.0, 1.0) * player.duration();
        // The duration is NaN until the browser knows it.
        if to.is_finite() {
            player.set_current_time(to);
            progress.set(x.clamp(0.0, 1.0));
        }
    };
    move || {
        let wave = wave.get()?;
        let path = path(&wave.columns);
        let columns = wave.columns.len();
        let odd = (wave.non_finite > 0).then(|| {
            let text = (i18n.texts().recorded().non_finite)(wave.non_finite);
            view! { <p class="micro err">{text}</p> }
        });
        Some(view! {
            <div class="wave" node_ref=plot on:pointerdown=on_press>
                <svg
                    role="img"
                    aria-label=i18n.texts().recorded().waveform
                    viewBox=format!("0 -100 {columns} 200")
                    preserveAspectRatio="none"
                >
                    <path d=path></path>
                </svg>
                <i style:left=move || format!("{}%", progress.get() * 100.0)></i>
            </div>
            {odd}
        })
    }
}

/// Reads WAV of integers or floats of any width; `None` for other formats, and without samples.
fn read(bytes: &[u8], columns: usize) -> Option<Wave> {
    let mut reader = WavReader::new(Cursor::new(bytes)).ok()?;
    let spec = reader.spec();
    let full = 2.0_f32.powi(i32::from(spec.bits_per_sample) - 1);
    // A file that ends early is drawn up to its end.
    let samples: Vec<f32> = match spec.sample_format {
        SampleFormat::Float => reader.samples::<f32>().map_while(Result::ok).collect(),
        SampleFormat::Int => {
            let samples = reader.samples::<i32>().map_while(Result::ok);
            samples.map(|sample| sample as f32 / full).collect()
        }
    };
    let each = samples.len().div_ceil(columns.max(1)).max(1);
    let range = |samples: &[f32]| {
        let finite = samples.iter().filter(|sample| sample.is_finite());
        let range = finite.fold(None, |range: Option<(f32, f32)>, sample| {
            let (least, most) = range.unwrap_or((*sample, *sample));
            Some((least.min(*sample), most.max(*sample)))
        });
        range.unwrap_or_default()
    };
    let non_finite = samples.iter().filter(|sample| !sample.is_finite()).count() as u64;
    let columns: Vec<(f32, f32)> = samples.chunks(each).map(range).collect();
    (!columns.is_empty()).then_some(Wave {
        columns,
        non_finite,
    })
}

/// SVG path with one bar per column, at least 2 units high: silence is a line.
fn path(columns: &[(f32, f32)]) -> String {
    let mut path = String::new();
    for (index, (least, most)) in columns.iter().enumerate() {
        let (top, bottom) = (
            -most.clamp(-1.0, 1.0) * 98.0,
            -least.clamp(-1.0, 1.0) * 98.0,
        );
        let height = (bottom - top).max(2.0);
        // Writing to a `String` does not fail.
        write!(path, "M{index} {top:.1}v{height:.1}h.8v-{height:.1}z").unwrap_or_default();
    }
    path
}

#[cfg(test)]
mod tests {
    use hound::{WavSpec, WavWriter};

    use super::*;

    fn wav(bits_per_sample: u16, sample_format: SampleFormat, samples: &[f32]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let spec = WavSpec {
            channels: 1,
            sample_rate: 8_000,
            bits_per_sample,
            sample_format,
        };
        let mut writer = WavWriter::new(&mut bytes, spec).unwrap();
        for sample in samples {
            match sample_format {
                SampleFormat::Float => writer.write_sample(*sample).unwrap(),
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "small numbers of this test"
                )]
                SampleFormat::Int => writer.write_sample(*sample as i32).unwrap(),
            }
        }
        writer.finalize().unwrap();
        bytes.into_inner()
    }

    #[test]
    fn each_column_has_its_range() {
        let bytes = wav(16, SampleFormat::Int, &[0.0, 16_384.0, -32_768.0, 8_192.0]);
        let wave = read(&bytes, 2).unwrap();
        assert_eq!(wave.columns, [(0.0, 0.5), (-1.0, 0.25)]);
        assert_eq!(wave.non_finite, 0);
        assert_eq!(path(&wave.columns).matches('M').count(), 2);
    }

    #[test]
    fn what_is_no_number_is_counted_and_what_is_no_wave_is_not_drawn() {
        let bytes = wav(
            32,
            SampleFormat::Float,
            &[f32::NAN, 0.5, f32::INFINITY, -0.5],
        );
        let wave = read(&bytes, 1).unwrap();
        assert_eq!((wave.columns, wave.non_finite), (vec![(-0.5, 0.5)], 2));
        assert_eq!(read(b"ID3 is no wave", 10), None);
        assert_eq!(read(&wav(16, SampleFormat::Int, &[]), 10), None);
        // Half a file is half a picture.
        let whole = wav(16, SampleFormat::Int, &[1.0; 100]);
        let half = read(&whole[..whole.len() / 2], 1_000);
        assert!(half.is_none_or(|half| half.columns.len() < 100));
    }
}
