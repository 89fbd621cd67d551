//! `trainscope report`: a run as a single page without server and scripts.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, ValueEnum};
use trainscope_analysis::trace::ranks;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::watchpoint::role_of_name;
use trainscope_api::compare::Align;
use trainscope_api::findings::{Findings, FindingsQuery};
use trainscope_api::profile::{MAX_STRETCHES, RankRow, SessionSummary};
use trainscope_api::program::ProgramFacts;
use trainscope_api::records::RecordsQuery;
use trainscope_api::runs::{FileStatus, Run};
use trainscope_api::scalars::Series;
use trainscope_api::tags::Tag;
use trainscope_charts::theme::Theme;
use trainscope_charts::{distribution, svg};
use trainscope_format::{ImageEncoding, Kind, Role};

use super::diff::{self, DiffResult};
use super::export::landscape::{self, Drawable};
use super::export::pictures::{COLOURS, curve, heat_map, heat_request, read_curve};
use super::mistake::Mistake;
use super::reading::Reading;
use super::{CommandError, words};
use crate::comparison::Options;
use crate::profiles::Profiles;
use crate::queries::profile::judged;
use crate::queries::{distributions, findings, media, program};

mod page;
mod texts;

/// Maximum number of curves: the most informative ones come first.
const MAX_CURVES: usize = 12;
/// Maximum number of distributions, and of images.
const MAX_HEAT_MAPS: usize = 6;
const MAX_PICTURES: usize = 8;
/// Maximum number of loss landscapes, and the size of their maps, CSS pixels; two fit side by side.
const MAX_LANDSCAPES: usize = 4;
const LANDSCAPE: (f64, f64) = (480.0, 380.0);
/// Maximum size of an image.
const MAX_PICTURE_BYTES: u64 = 512 << 10;
/// Size of a plot, CSS pixels; three fit side by side.
const PLOT: (f64, f64) = (316.0, 176.0);
/// Columns and bins of a heat map.
const HEAT: (usize, usize) = (96, 48);

/// The flags of `trainscope report`.
#[derive(Args, Clone, Debug)]
pub(super) struct ReportFlags {
    /// The folder of a run, or a single file of one
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// File to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// The folder of a run to compare this one with
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,

    /// The largest relative difference that counts as equal; 0: to the bit
    #[arg(long, value_name = "SHARE", requires = "against", default_value_t = diff::TOLERANCE, value_parser = diff::share)]
    tolerance: f64,

    /// Language of the page
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = Language::En)]
    lang: Language,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// English
    En,
    /// Chinese
    Zh,
}

struct Contents {
    /// Path as typed on the command line.
    title: String,
    info: Option<Run>,
    findings: Findings,
    /// The run that this one is compared with, the base, and the result.
    comparison: Option<(String, DiffResult)>,
    /// Incomplete files: path, status and offset.
    files: Vec<(String, FileStatus, u64)>,
    curves: Vec<Curve>,
    /// Scalars without a curve on the page.
    other_curves: usize,
    heat_maps: Vec<(String, String)>,
    /// Name, sentence and map of each loss landscape.
    landscapes: Vec<(String, Sentences, String)>,
    pictures: Vec<Picture>,
    /// Names of kinds, each with the number of its tags that are not on the page.
    left_out: Vec<([&'static str; 3], u64)>,
    /// Names and values of the lineage.
    lineage: Vec<(String, String)>,
    profile: Option<ProfileContent>,
    program: ProgramFacts,
    /// Program and time of the report.
    made: String,
}

/// A sentence in English and Chinese.
type Sentences = [String; 2];

/// The newest profile, of its lowest rank.
struct ProfileContent {
    summary: SessionSummary,
    /// Ranks of its session; empty for a single one.
    ranks: Vec<RankRow>,
    /// Problems of its files, as sentences.
    faults: Vec<String>,
}

struct Curve {
    tag: String,
    rank: u32,
    last: f64,
    svg: String,
}

/// An image of a run.
struct Picture {
    tag: String,
    step: i64,
    /// Data URI.
    address: String,
}

pub(super) fn run(flags: &ReportFlags) -> Result<u8, CommandError> {
    let reading = Reading::of(&flags.run)?;
    let mut contents = gather(&reading)?;
    if let Some(folder) = &flags.against {
        let base = Reading::of(folder)?;
        let options = Options {
            tolerance: flags.tolerance,
            since: None,
            align: Align::Step,
            all: true,
        };
        let result = diff::compare(&base, &reading, options)?;
        contents.comparison = Some((base.title, result));
    }
    let page = page::page(&contents, flags.lang);
    if flags.output.as_os_str() == "-" {
        let mut out = std::io::stdout().lock();
        out.write_all(page.as_bytes())?;
        out.flush()?;
        return Ok(0);
    }
    super::export::replace(&flags.output, |out| Ok(out.write_all(page.as_bytes())?))?;
    let mut out = anstream::stdout().lock();
    let path = words::path(&flags.output);
    writeln!(
        out,
        "{path}  {}, opens without a server",
        words::size(page.len() as u64)
    )?;
    Ok(0)
}

fn gather(reading: &Reading) -> Result<Contents, Mistake> {
    let findings = findings::answer(&reading.judged(), &FindingsQuery::default(), page::MAX_HITS);
    let info = reading.info();
    let files = info.iter().flat_map(|run| &run.files);
    let files = files.map(|file| (file.path.clone(), file.status, file.len_bytes));
    let (curves, other_curves) = curves(reading, info.as_ref(), &findings)?;
    let heat_maps = heat_maps(reading, &findings)?;
    let landscapes = landscapes(reading)?;
    let pictures = pictures(reading)?;
    let mut left_out = Vec::with_capacity(texts::IN_PART.len());
    for (kind, names) in texts::IN_PART {
        let shown = match kind {
            Kind::Histograms => heat_maps.len(),
            Kind::Landscapes => landscapes.len(),
            Kind::Images => pictures.len(),
            _ => 0,
        };
        let others = reading.tags_of(kind)?.len().saturating_sub(shown);
        left_out.push((names, others as u64));
    }
    Ok(Contents {
        title: reading.title.clone(),
        comparison: None,
        files: files.collect(),
        curves,
        other_curves,
        heat_maps,
        landscapes,
        pictures,
        left_out,
        lineage: lineage(reading, info.as_ref())?,
        profile: profile(reading),
        program: program::facts(&reading.index, &reading.run)
            .map_err(|error| reading.unread(&error))?,
        made: format!(
            "{} · trainscope {}",
            jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC"),
            env!("CARGO_PKG_VERSION")
        ),
        info,
        findings,
    })
}

/// The newest profile; `None` for a run without one.
fn profile(reading: &Reading) -> Option<ProfileContent> {
    let loaded = Profiles::new(&reading.index)
        .ranks(&reading.run, None)
        .ok()?;
    let newest = loaded.first()?;
    let all = StepRange::default();
    let summary = judged(&reading.index, newest, &loaded, all, MAX_STRETCHES);
    let models: Vec<_> = loaded.iter().map(|profile| profile.rank_model()).collect();
    let cluster = if models.len() > 1 {
        ranks::ranks_of(&models).ranks
    } else {
        Vec::new()
    };
    Some(ProfileContent {
        summary,
        ranks: cluster,
        faults: newest.faults(),
    })
}

/// Curves: the loss, the metric, scalars with hits, learning rate and norms, then all others.
fn curves(
    reading: &Reading,
    info: Option<&Run>,
    findings: &Findings,
) -> Result<(Vec<Curve>, usize), Mistake> {
    let mut tags = reading.tags_of(Kind::Scalars)?;
    let hit: BTreeSet<&str> = findings.hits.iter().map(|hit| &*hit.tensor).collect();
    let is_last = |last: Option<&trainscope_api::runs::LastValue>, tag: &Tag| {
        last.is_some_and(|last| last.tag == tag.tag)
    };
    let rank_of = |tag: &Tag| {
        let name = tag.tag.to_lowercase();
        if is_last(info.and_then(|run| run.loss.as_ref()), tag) {
            0
        } else if is_last(info.and_then(|run| run.metric.as_ref()), tag) {
            1
        } else if hit.contains(&*tag.tag) {
            2
        } else if ["loss", "acc", "lr", "learning_rate", "norm"]
            .iter()
            .any(|word| name.contains(word))
        {
            3
        } else {
            4
        }
    };
    tags.sort_by_cached_key(rank_of);
    let others = tags.len().saturating_sub(MAX_CURVES);
    tags.truncate(MAX_CURVES);
    let mut curves = Vec::with_capacity(tags.len());
    for tag in tags {
        let series: Series = read_curve(reading, &tag, (None, None))?;
        let last = series.values.last().copied().unwrap_or(f64::NAN);
        let spec = curve(&[(COLOURS[0].0, series)], PLOT);
        curves.push(Curve {
            svg: svg::line(&spec, &theme()),
            tag: tag.tag,
            rank: tag.rank,
            last,
        });
    }
    Ok((curves, others))
}

/// Theme of the plots; the page's style overrides its colours in dark mode.
fn theme() -> Theme {
    Theme {
        font: String::new(),
        ..Theme::light()
    }
}

/// Distributions: tensors with hits, weights, then all others.
fn heat_maps(reading: &Reading, findings: &Findings) -> Result<Vec<(String, String)>, Mistake> {
    let mut tags = reading.tags_of(Kind::Histograms)?;
    let hit: BTreeSet<&str> = findings.hits.iter().map(|hit| &*hit.tensor).collect();
    tags.sort_by_cached_key(|tag| match role_of_name(&tag.tag) {
        _ if hit.contains(&*tag.tag) => 0,
        Some(Role::Weight | Role::Gradient) => 1,
        _ => 2,
    });
    tags.truncate(MAX_HEAT_MAPS);
    let mut maps = Vec::with_capacity(tags.len());
    for tag in tags {
        let request = heat_request(reading, &tag);
        let answer = distributions::answer(&reading.index, &request, HEAT.0, HEAT.1);
        let answer = answer.map_err(|error| reading.unread(&error))?;
        let spec: distribution::Spec = heat_map(&answer, PLOT);
        maps.push((tag.tag, svg::distribution(&spec, &theme())));
    }
    Ok(maps)
}

/// The last map of each loss landscape with its sentence.
fn landscapes(reading: &Reading) -> Result<Vec<(String, Sentences, String)>, Mistake> {
    let mut found = Vec::new();
    for tag in reading
        .tags_of(Kind::Landscapes)?
        .into_iter()
        .take(MAX_LANDSCAPES)
    {
        let query = RecordsQuery {
            run: reading.run.clone(),
            tag: tag.tag.clone(),
            rank: tag.rank,
            writer: tag.writer.clone(),
            ..RecordsQuery::default()
        };
        let last = landscape::last(reading, &query)?;
        let drawable = last.and_then(|at| Drawable::new(&at.body, COLOURS[0].0));
        if let Some(drawable) = drawable {
            let svg = drawable.svg(LANDSCAPE, &theme());
            let sentence = drawable.conclusion.sentence;
            found.push((tag.tag, [sentence.en, sentence.zh], svg));
        }
    }
    Ok(found)
}

/// The newest image of each tag, if browsers can show its format.
fn pictures(reading: &Reading) -> Result<Vec<Picture>, Mistake> {
    let mut found = Vec::new();
    for tag in reading
        .tags_of(Kind::Images)?
        .into_iter()
        .take(MAX_PICTURES)
    {
        let query = RecordsQuery {
            run: reading.run.clone(),
            tag: tag.tag.clone(),
            rank: tag.rank,
            writer: tag.writer.clone(),
            from: tag.last_step,
            points: Some(1),
            ..Default::default()
        };
        let records = reading.index.records(Kind::Images, &query, media::images);
        let records = records.map_err(|error| reading.unread(&error))?.records;
        let Some((step, blob)) = records
            .into_iter()
            .next_back()
            .and_then(|at| Some((at.step, at.body.items.into_iter().next()?)))
        else {
            continue;
        };
        // An oversized or missing image does not fail the report.
        let bytes =
            (blob.len_bytes <= MAX_PICTURE_BYTES).then(|| reading.index.blob(&blob.id).ok());
        let Some(bytes) = bytes.flatten() else {
            continue;
        };
        let encoding = ImageEncoding::sniff(&bytes);
        if encoding != ImageEncoding::Unknown {
            found.push(Picture {
                tag: tag.tag,
                step,
                address: format!(
                    "data:{};base64,{}",
                    encoding.content_type(),
                    STANDARD.encode(&bytes)
                ),
            });
        }
    }
    Ok(found)
}

/// Lineage of the model and data, without values that are also hyper-parameters.
fn lineage(reading: &Reading, info: Option<&Run>) -> Result<Vec<(String, String)>, Mistake> {
    let mut all = Vec::new();
    for tag in reading.tags_of(Kind::Lineage)? {
        let query = RecordsQuery {
            run: reading.run.clone(),
            tag: tag.tag.clone(),
            rank: tag.rank,
            writer: tag.writer.clone(),
            ..Default::default()
        };
        let read = reading.index.each_record(Kind::Lineage, &query, |at| {
            if let trainscope_format::Body::Lineage(record) = &at.body
                && !matches!(**record, trainscope_format::Lineage::Dataset(_))
            {
                all.extend(super::export::records::lineage(record));
            }
        });
        read.map_err(|error| reading.unread(&error))?;
    }
    let is_known = |name: &str| {
        let leaf = name.rsplit('.').next().unwrap_or(name);
        info.is_some_and(|run| run.hparams.contains_key(leaf))
    };
    all.retain(|(name, _)| !is_known(name));
    Ok(all)
}
