//! `trainscope export`: records of a run for other programs: tables, JSON, pictures, files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use regex::Regex;
use trainscope_api::profile::OperatorGroup;
use trainscope_api::records::RecordsQuery;
use trainscope_api::tags::Tag;
use trainscope_api::tensors::TensorIndexQuery;
use trainscope_format::Kind;

use super::mistake::Mistake;
use super::output::unwritable;
pub(super) use super::output::{replace, write_to};
use super::parquet;
use super::reading::Reading;
use super::style::QUIET;
use super::{CommandError, words};
use crate::files::is_address;
use crate::profiles::LoadedProfile;

mod files;
mod graphs;
mod judged;
pub(super) mod landscape;
mod left_out;
pub(super) mod pictures;
mod profile;
pub(super) mod records;
mod statistics;
pub(super) mod table;
mod timeline;

use left_out::SkippedTensors;
pub(super) use profile::SessionChoice;
use table::Table;

/// Number of tags listed in an error.
const TOLD_TAGS: usize = 8;

/// The flags of `trainscope export`.
#[derive(Args, Clone, Debug)]
pub(super) struct ExportFlags {
    /// The folder of a run, or a single file of one; tables may be of several runs, and then have a column `run`
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,

    /// All runs below the folders
    #[arg(long)]
    all_runs: bool,

    /// Kind of record
    #[arg(long, short, value_name = "KIND", value_enum)]
    kind: ExportKind,

    /// Output format; pictures are for scalars, histograms, loss landscapes, timelines and graphs (SVG), files for images, audio and tensors
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,

    /// Tags, tensors or conditions that match this regular expression [default: all]
    #[arg(long, short, value_name = "REGEX", value_parser = Regex::new)]
    tags: Option<Regex>,

    /// Of this rank only [default: all]
    #[arg(long, value_name = "N")]
    rank: Option<u32>,

    /// From this step on
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    since_step: Option<i64>,

    /// Up to and with this step
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    until_step: Option<i64>,

    /// Of this session of a profiler: its id, `newest` or `all`
    #[arg(long, value_name = "ID", default_value = "newest", value_parser = SessionChoice::parse)]
    session: SessionChoice,

    /// Groups of operators
    #[arg(long, value_name = "GROUP", value_enum, default_value_t = GroupChoice::Name)]
    by: GroupChoice,

    /// Of a timeline or its stacks, from this time on: 0.45s, 12ms, 800us [default: the first event]
    #[arg(long, value_name = "TIME", value_parser = profile::parse_time, allow_hyphen_values = true)]
    from: Option<i64>,

    /// Of a timeline or its stacks, up to this time [default: the last event]
    #[arg(long, value_name = "TIME", value_parser = profile::parse_time, allow_hyphen_values = true)]
    until: Option<i64>,

    /// In the picture of a graph, open this scope and all around it; may be repeated
    #[arg(long, value_name = "SCOPE")]
    expand: Vec<String>,

    /// In the picture of a graph, open all scopes down to this depth [default: the largest that leave room]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// Dark pictures
    #[arg(long)]
    dark: bool,

    /// Write to a file, or to a folder if the format is `files`; `-` is standard output. As Parquet, a path that ends
    /// with `/` is a folder with a file for each 10,000,000 rows
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportKind {
    /// Numbers over steps
    Scalars,
    /// Distributions over steps
    Histograms,
    /// Pictures
    Images,
    /// Sound
    Audio,
    /// Texts
    Text,
    /// Tensors, and their elements as npy files
    Tensors,
    /// Statistics of tensors: counts, extremes, moments; computed where elements were recorded
    Statistics,
    /// Hits of watchpoints
    Hits,
    /// Rows of the guided diagnosis
    Diagnosis,
    /// Nodes of computation graphs
    Graph,
    /// Lineage of the model: training settings and data
    Lineage,
    /// Hyper-parameters
    Hparams,
    /// Precision and recall
    PrCurves,
    /// Loss landscapes: points of the surface, the path and the end
    Landscape,
    /// Steps of a profile with their parts; as JSON everything that its page says, which is also a baseline
    Profile,
    /// Phases of the steps of a profile
    Steps,
    /// Operators and kernels of a profile
    Operators,
    /// Memory of a profile over time
    Memory,
    /// Ranks of a profile
    Ranks,
    /// Advice about a profile
    Advice,
    /// Folded stacks of a profile, for flame graphs
    Stacks,
    /// Timeline of a profile: as Chrome JSON, which Perfetto opens, or as a picture
    Timeline,
}

/// Groups of operators on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GroupChoice {
    /// By type
    Type,
    /// By name
    Name,
    /// By module or scope
    Scope,
    /// By name and shapes of the inputs
    Shape,
    /// Kernels by short name
    Kernel,
    /// Kernels by full name
    Variant,
}

impl From<GroupChoice> for OperatorGroup {
    fn from(choice: GroupChoice) -> Self {
        match choice {
            GroupChoice::Type => Self::Type,
            GroupChoice::Name => Self::Name,
            GroupChoice::Scope => Self::Scope,
            GroupChoice::Shape => Self::Shape,
            GroupChoice::Kernel => Self::Kernel,
            GroupChoice::Variant => Self::Variant,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// A table with commas
    Csv,
    /// An array of objects, as the API has them
    Json,
    /// A picture that scales
    Svg,
    /// A picture
    Png,
    /// Recorded bytes, one file each
    Files,
    /// A table with typed columns, for `DuckDB`, polars, pandas, Spark
    Parquet,
}

impl ExportKind {
    /// `true` for kinds that come from the traces of profilers.
    const fn is_of_profiles(self) -> bool {
        matches!(
            self,
            Self::Profile
                | Self::Steps
                | Self::Operators
                | Self::Memory
                | Self::Ranks
                | Self::Advice
                | Self::Stacks
                | Self::Timeline
        )
    }

    const fn recorded(self) -> Option<Kind> {
        Some(match self {
            Self::Scalars => Kind::Scalars,
            Self::Histograms => Kind::Histograms,
            Self::Images => Kind::Images,
            Self::Audio => Kind::Audio,
            Self::Text => Kind::Text,
            Self::Statistics => Kind::Statistics,
            Self::Graph => Kind::Graphs,
            Self::Lineage => Kind::Lineage,
            Self::Hparams => Kind::Hparams,
            Self::PrCurves => Kind::PrCurves,
            Self::Landscape => Kind::Landscapes,
            _ => return None,
        })
    }

    const fn allows(self, format: ExportFormat) -> bool {
        match format {
            ExportFormat::Csv => !matches!(self, Self::Timeline),
            ExportFormat::Json => !matches!(self, Self::Stacks),
            ExportFormat::Svg => matches!(
                self,
                Self::Scalars | Self::Histograms | Self::Graph | Self::Timeline | Self::Landscape
            ),
            ExportFormat::Png => {
                matches!(
                    self,
                    Self::Scalars | Self::Histograms | Self::Timeline | Self::Landscape
                )
            }
            ExportFormat::Files => matches!(self, Self::Images | Self::Audio | Self::Tensors),
            ExportFormat::Parquet => matches!(
                self,
                Self::Scalars
                    | Self::Histograms
                    | Self::Text
                    | Self::Statistics
                    | Self::Hits
                    | Self::Steps
                    | Self::Profile
                    | Self::Operators
                    | Self::Memory
                    | Self::Ranks
            ),
        }
    }
}

/// The name of a choice on the command line.
fn typed(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

pub(super) fn run(flags: &ExportFlags) -> Result<u8, CommandError> {
    if !flags.kind.allows(flags.format) {
        return Err(wrong_format(flags).into());
    }
    if let (Some(since), Some(until)) = (flags.since_step, flags.until_step)
        && since > until
    {
        let asked = |since, until| format!("--since-step {since} --until-step {until}");
        return Err(Mistake::new(2, "no step is in that range")
            .at(asked(since, until))
            .attempt(asked(until, since))
            .into());
    }
    let readings = readings(flags)?;
    if let [reading] = &readings[..]
        && !flags.all_runs
        && !flags.is_table()
    {
        return write_one(flags, reading);
    }
    if !flags.is_table() {
        let (kind, format) = (typed(&flags.kind), typed(&flags.format));
        return Err(Mistake::new(2, "this export takes one run")
            .at(format!("--kind {kind} --format {format}"))
            .attempt("one RUN, or a table: --format csv, json, or parquet")
            .into());
    }
    write_table(flags, &readings)
}

/// The runs that are exported, each with all its records.
fn readings(flags: &ExportFlags) -> Result<Vec<Reading>, Mistake> {
    let mut readings = Vec::new();
    for path in &flags.runs {
        if flags.all_runs {
            readings.extend(Reading::all(path)?);
        } else {
            readings.push(Reading::of(path)?);
        }
    }
    Ok(readings)
}

/// Exports of one run that are no tables.
fn write_one(flags: &ExportFlags, reading: &Reading) -> Result<u8, CommandError> {
    if flags.kind.is_of_profiles() {
        profile::write(flags, reading)?;
        return Ok(0);
    }
    let tags = chosen_tags(flags, reading)?;
    if flags.format == ExportFormat::Files {
        return files::write(flags, reading, &tags);
    }
    let picture = match flags.kind {
        ExportKind::Graph => graphs::picture(flags, reading, &tags)?,
        ExportKind::Landscape => landscape::picture(flags, reading, &tags)?,
        _ => pictures::picture(flags, reading, &tags)?,
    };
    write_out(flags, |out| Ok(out.write_all(&picture)?))?;
    Ok(0)
}

/// The chosen tags of a kind of record.
fn chosen_tags(flags: &ExportFlags, reading: &Reading) -> Result<Vec<Tag>, Mistake> {
    match flags.kind.recorded() {
        Some(kind) => match chosen(flags, reading, kind) {
            // Statistics are computed from recorded elements.
            Err(_) if kind == Kind::Statistics && statistics::are_there(flags, reading) => {
                Ok(Vec::new())
            }
            chosen => chosen,
        },
        None => Ok(Vec::new()),
    }
}

/// Records of one run for a table.
enum TableSource {
    Tags(Vec<Tag>),
    Profiles(Vec<Arc<LoadedProfile>>),
}

fn choose(flags: &ExportFlags, reading: &Reading) -> Result<TableSource, Mistake> {
    Ok(if flags.kind.is_of_profiles() {
        TableSource::Profiles(profile::chosen(flags, reading)?)
    } else {
        if flags.kind == ExportKind::Tensors {
            judged::listed(flags, reading, &TensorIndexQuery::default())?;
        }
        TableSource::Tags(chosen_tags(flags, reading)?)
    })
}

/// Writes a table of one or several runs. Of several runs, those without such records have no rows.
fn write_table(flags: &ExportFlags, readings: &[Reading]) -> Result<u8, CommandError> {
    let is_of_several = readings.len() > 1 || flags.all_runs;
    let mut with_records = Vec::new();
    let mut first_mistake = None;
    for reading in readings {
        match choose(flags, reading) {
            Ok(chosen) => with_records.push((reading, chosen)),
            Err(mistake) => drop(first_mistake.get_or_insert(mistake)),
        }
    }
    if let (Some(mistake), true) = (first_mistake, with_records.is_empty()) {
        return Err(mistake.into());
    }
    let without = readings.len() - with_records.len();
    let mut left_out = SkippedTensors::default();
    let mut fill = |mut table: Table<'_>| {
        for (reading, chosen) in &with_records {
            if is_of_several {
                table.begin_run(&reading.title);
            }
            fill(flags, reading, chosen, &mut table, &mut left_out)?;
        }
        Ok(table.finish()?)
    };
    let kind = typed(&flags.kind);
    match (flags.format, flags.folder()) {
        (ExportFormat::Parquet, Some(folder)) => {
            let output = parquet::Output::Folder(folder.to_owned());
            fill(Table::parquet(parquet::Rows::new(output, &kind)?))?;
        }
        (ExportFormat::Parquet, None) => write_out(flags, |out| {
            let output = parquet::Output::Stream(out);
            fill(Table::parquet(parquet::Rows::new(output, &kind)?))
        })?,
        (format, _) => write_out(flags, |out| {
            fill(Table::new(out, format == ExportFormat::Json))
        })?,
    }
    if without > 0 {
        let mut stderr = anstream::stderr().lock();
        let runs = words::plural(without as u64, "run has", "runs have");
        writeln!(
            stderr,
            "{QUIET}note: {runs} no matching {kind}, and add no rows{QUIET:#}"
        )?;
    }
    Ok(left_out.tell()?)
}

/// Writes the rows of one run.
fn fill(
    flags: &ExportFlags,
    reading: &Reading,
    chosen: &TableSource,
    table: &mut Table<'_>,
    left_out: &mut SkippedTensors,
) -> Result<(), CommandError> {
    match (flags.kind, chosen) {
        (_, TableSource::Profiles(loaded)) => profile::rows(flags, reading, loaded, table),
        (ExportKind::Tensors, _) => judged::tensors(flags, reading, table),
        (ExportKind::Hits, _) => judged::hits(flags, reading, table),
        (ExportKind::Diagnosis, _) => judged::diagnosis(reading, table),
        (ExportKind::Statistics, TableSource::Tags(tags)) => {
            statistics::write(flags, reading, tags, table, left_out)
        }
        (_, TableSource::Tags(tags)) => records::write(flags, reading, tags, table),
    }
}

fn wrong_format(flags: &ExportFlags) -> Mistake {
    let (kind, format) = (typed(&flags.kind), typed(&flags.format));
    let formats = ExportFormat::value_variants().iter();
    let allowed: Vec<String> = formats
        .filter(|format| flags.kind.allows(**format))
        .map(typed)
        .collect();
    Mistake::new(2, format!("{kind} cannot be exported as {format}"))
        .at(format!("--kind {kind} --format {format}"))
        .attempt(format!("--format {}", allowed.join(", or ")))
}

/// The selected tags; the error lists the existing ones.
fn chosen(flags: &ExportFlags, reading: &Reading, kind: Kind) -> Result<Vec<Tag>, Mistake> {
    let all = reading.tags()?;
    let is_asked = |tag: &&Tag| {
        tag.kind == kind
            && flags.rank.is_none_or(|rank| rank == tag.rank)
            && flags
                .tags
                .as_ref()
                .is_none_or(|regex| regex.is_match(&tag.tag))
    };
    let asked: Vec<Tag> = all.iter().filter(is_asked).cloned().collect();
    if !asked.is_empty() {
        return Ok(asked);
    }
    let name = typed(&flags.kind);
    let title = words::name(&reading.title, None);
    let mut names: Vec<&str> = all
        .iter()
        .filter(|tag| tag.kind == kind)
        .map(|tag| &*tag.tag)
        .collect();
    names.dedup();
    if names.is_empty() {
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for tag in &all {
            *kinds.entry(name_of_kind(tag.kind)).or_default() += 1;
        }
        let kinds = kinds
            .iter()
            .map(|(kind, count)| format!("{} {kind}", words::count(*count)));
        let kinds: Vec<String> = kinds.collect();
        let there = match &kinds[..] {
            [] => "it has recorded tensors alone, or nothing".to_owned(),
            kinds => format!("tags that are there: {}", kinds.join(", ")),
        };
        return Err(Mistake::new(2, format!("{title} has recorded no {name}"))
            .at(there)
            .attempt("another --kind"));
    }
    let told: Vec<String> = names
        .iter()
        .take(TOLD_TAGS)
        .map(|tag| words::name(tag, None))
        .collect();
    let more = match names.len().saturating_sub(TOLD_TAGS) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let asked = flags
        .tags
        .as_ref()
        .map_or_else(String::new, |regex| format!("--tags '{regex}'"));
    let rank = flags
        .rank
        .map_or_else(String::new, |rank| format!(" --rank {rank}"));
    let ranks: BTreeSet<u32> = all
        .iter()
        .filter(|tag| tag.kind == kind)
        .map(|tag| tag.rank)
        .collect();
    let hint = match flags.rank {
        Some(rank) if !ranks.contains(&rank) => {
            let ranks: Vec<String> = ranks.iter().take(TOLD_TAGS).map(u32::to_string).collect();
            format!("one of these ranks: {}", ranks.join(", "))
        }
        _ => format!("a part of one of these names: {}{more}", told.join(", ")),
    };
    Err(
        Mistake::new(2, format!("none of the {name} of {title} is asked for"))
            .at(format!("{asked}{rank}").trim().to_owned())
            .attempt(hint),
    )
}

/// The name of a kind in the API.
fn name_of_kind(kind: Kind) -> String {
    crate::watchpoints::name_of(&kind)
}

impl ExportFlags {
    /// Query for all records of a tag in the selected range.
    fn query(&self, reading: &Reading, tag: &Tag) -> RecordsQuery {
        RecordsQuery {
            run: reading.run.clone(),
            tag: tag.tag.clone(),
            rank: tag.rank,
            from: self.since_step,
            to: self.until_step,
            points: Some(usize::MAX),
            writer: tag.writer.clone(),
            ..RecordsQuery::default()
        }
    }

    fn wants_step(&self, step: i64) -> bool {
        self.since_step.is_none_or(|since| step >= since)
            && self.until_step.is_none_or(|until| step <= until)
    }

    /// `true` if the result has rows: of several runs, too.
    fn is_table(&self) -> bool {
        match self.format {
            ExportFormat::Csv => self.kind != ExportKind::Stacks,
            ExportFormat::Json => !matches!(self.kind, ExportKind::Timeline | ExportKind::Profile),
            ExportFormat::Parquet => true,
            ExportFormat::Svg | ExportFormat::Png | ExportFormat::Files => false,
        }
    }

    /// The folder for files of a table.
    fn folder(&self) -> Option<&Path> {
        let path = self.path().filter(|path| !is_address(path))?;
        let is_named = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        (is_named || path.is_dir()).then_some(path)
    }

    /// Output path, unless it is standard output.
    fn path(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }
}

/// Writes the result to its destination. An existing file is replaced once the new one is complete.
fn write_out(
    flags: &ExportFlags,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    write_to(flags.path(), write)
}
