//! Rows as Parquet files. Floating-point columns have no statistics: engines prune by
//! minimum and maximum, and would lose NaN.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use tempfile::NamedTempFile;

use super::{ColumnType, Output};

/// Rows of a group, which is in memory until it is written: 60 MB of scalars.
const GROUP_ROWS: usize = 1 << 19;
/// Rows of a file in a folder.
const FILE_ROWS: usize = 10_000_000;
/// Level of zstd: 3 is its default; higher ones take several times as long for some per cent.
const ZSTD_LEVEL: i32 = 3;
/// Version of the columns, in the metadata of each file.
const SCHEMA: &str = "1";

/// Columns that are filled, then written.
pub(in crate::cli) struct Rows<'a> {
    output: Option<Output<'a>>,
    kind: String,
    columns: Vec<Column>,
    schema: Option<(TypePtr, WriterPropertiesPtr)>,
    writer: Option<SerializedFileWriter<Part<'a>>>,
    /// Rows in `columns`.
    waiting: usize,
    /// Rows in the file.
    written: usize,
    /// Number of files in the folder.
    parts: usize,
    /// Maximum rows of a group, and of a file in a folder.
    limits: (usize, usize),
}

/// The file that is being written.
enum Part<'a> {
    Stream(&'a mut (dyn Write + Send)),
    File(BufWriter<NamedTempFile>),
}

impl Write for Part<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}

struct Column {
    name: String,
    of: ColumnType,
    values: Values,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
}

enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    /// Microseconds since 1970.
    Times(Vec<i64>),
    Truths(Vec<bool>),
    /// Equal neighbours share their text.
    Texts(Vec<ByteArray>),
}

impl ColumnType {
    fn declaration(self, name: &str) -> Result<TypePtr, ParquetError> {
        let (kind, logical) = match self {
            Self::Integer => (PhysicalType::INT64, None),
            Self::Float => (PhysicalType::DOUBLE, None),
            Self::Time => {
                let logical = LogicalType::timestamp(true, TimeUnit::MICROS);
                (PhysicalType::INT64, Some(logical))
            }
            Self::Truth => (PhysicalType::BOOLEAN, None),
            Self::Text | Self::Content => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let declared = Type::primitive_type_builder(name, kind)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        declared.build().map(Arc::new)
    }
}

impl Values {
    const fn new(of: ColumnType) -> Self {
        match of {
            ColumnType::Integer => Self::Integers(Vec::new()),
            ColumnType::Float => Self::Floats(Vec::new()),
            ColumnType::Time => Self::Times(Vec::new()),
            ColumnType::Truth => Self::Truths(Vec::new()),
            ColumnType::Text | ColumnType::Content => Self::Texts(Vec::new()),
        }
    }

    /// Adds a cell; `None` if it is not of the type of the column.
    fn push(&mut self, cell: &str) -> Option<()> {
        match self {
            Self::Integers(values) => values.push(cell.parse().ok()?),
            Self::Floats(values) => values.push(cell.parse().ok()?),
            Self::Times(values) => {
                let micros = cell.parse::<f64>().ok()? * 1e6;
                #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
                values.push(micros.round() as i64);
            }
            Self::Truths(values) => values.push(cell.parse().ok()?),
            Self::Texts(values) => {
                let known = values.last().filter(|last| last.data() == cell.as_bytes());
                let text = known.cloned().unwrap_or_else(|| ByteArray::from(cell));
                values.push(text);
            }
        }
        Some(())
    }

    fn clear(&mut self) {
        match self {
            Self::Integers(values) | Self::Times(values) => values.clear(),
            Self::Floats(values) => values.clear(),
            Self::Truths(values) => values.clear(),
            Self::Texts(values) => values.clear(),
        }
    }
}

impl Column {
    fn new(name: &str, of: ColumnType) -> Self {
        // The unit of a time is in its type.
        let bare = name.trim_end_matches("_secs");
        let name = if of == ColumnType::Time { bare } else { name };
        Self {
            name: name.to_owned(),
            of,
            values: Values::new(of),
            levels: Vec::new(),
        }
    }

    fn push(&mut self, cell: &str) -> io::Result<()> {
        if cell.is_empty() && self.of != ColumnType::Content {
            self.levels.push(0);
            return Ok(());
        }
        self.levels.push(1);
        self.values.push(cell).ok_or_else(|| {
            let reason = format!("`{cell}` is no value of the column {}", self.name);
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match &self.values {
            Values::Integers(values) | Values::Times(values) => {
                writer
                    .typed::<Int64Type>()
                    .write_batch(values, levels, None)?;
            }
            Values::Floats(values) => {
                writer
                    .typed::<DoubleType>()
                    .write_batch(values, levels, None)?;
            }
            Values::Truths(values) => {
                writer
                    .typed::<BoolType>()
                    .write_batch(values, levels, None)?;
            }
            Values::Texts(values) => {
                writer
                    .typed::<ByteArrayType>()
                    .write_batch(values, levels, None)?;
            }
        }
        self.values.clear();
        self.levels.clear();
        Ok(())
    }
}

fn properties(columns: &[Column], kind: &str) -> Result<WriterProperties, ParquetError> {
    let metadata = [
        ("trainscope.version", env!("CARGO_PKG_VERSION")),
        ("trainscope.kind", kind),
        ("trainscope.schema", SCHEMA),
    ];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_created_by(format!("trainscope {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata.to_vec()));
    for column in columns {
        let path = ColumnPath::from(column.name.as_str());
        let encoding = match column.values {
            Values::Integers(_) | Values::Times(_) => Encoding::DELTA_BINARY_PACKED,
            Values::Floats(_) => Encoding::BYTE_STREAM_SPLIT,
            Values::Truths(_) | Values::Texts(_) => continue,
        };
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), encoding);
        if matches!(column.values, Values::Floats(_)) {
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(properties.build())
}

impl<'a> Rows<'a> {
    /// Rows of a kind of record.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "a program without Parquet has no rows"
    )]
    pub(in crate::cli) fn new(output: Output<'a>, kind: &str) -> io::Result<Self> {
        Ok(Self {
            output: Some(output),
            kind: kind.to_owned(),
            columns: Vec::new(),
            schema: None,
            writer: None,
            waiting: 0,
            written: 0,
            parts: 0,
            limits: (GROUP_ROWS, FILE_ROWS),
        })
    }

    /// Sets the columns.
    pub(in crate::cli) fn head<'c>(
        &mut self,
        columns: impl Iterator<Item = (&'c str, ColumnType)>,
    ) -> io::Result<()> {
        self.columns = columns.map(|(name, of)| Column::new(name, of)).collect();
        let fields = self.columns.iter();
        let fields = fields.map(|column| column.of.declaration(&column.name));
        let schema = fields
            .collect::<Result<Vec<_>, _>>()
            .and_then(|fields| Type::group_type_builder("rows").with_fields(fields).build());
        let schema = schema.map_err(io::Error::other)?;
        let properties = properties(&self.columns, &self.kind).map_err(io::Error::other)?;
        self.schema = Some((Arc::new(schema), Arc::new(properties)));
        Ok(())
    }

    pub(in crate::cli) fn row<'c>(
        &mut self,
        cells: impl Iterator<Item = &'c str>,
    ) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell)?;
        }
        self.waiting += 1;
        if self.waiting == self.limits.0 {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> io::Result<()> {
        if matches!(self.output, Some(Output::Folder(_))) && self.written >= self.limits.1 {
            self.close()?;
        }
        if self.writer.is_none() {
            self.open()?;
        }
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let written = (|| {
            let mut group = writer.next_row_group()?;
            for column in &mut self.columns {
                if let Some(mut writer) = group.next_column()? {
                    column.write(&mut writer)?;
                    writer.close()?;
                }
            }
            group.close().map(drop)
        })();
        written.map_err(io::Error::other)?;
        self.written += std::mem::take(&mut self.waiting);
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        let part = match self.output.take() {
            Some(Output::Folder(folder)) => {
                fs::create_dir_all(&folder)?;
                let file = NamedTempFile::new_in(&folder)?;
                self.output = Some(Output::Folder(folder));
                Part::File(BufWriter::new(file))
            }
            Some(Output::Stream(out)) => Part::Stream(out),
            None => return Ok(()),
        };
        let Some((schema, properties)) = self.schema.clone() else {
            return Ok(());
        };
        let writer = SerializedFileWriter::new(part, schema, properties);
        self.writer = Some(writer.map_err(io::Error::other)?);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let part = writer.into_inner().map_err(io::Error::other)?;
        if let (Part::File(out), Some(Output::Folder(folder))) = (part, &self.output) {
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            crate::cli::output::readable(file.path())?;
            let name = format!("part-{:05}.parquet", self.parts);
            file.persist(folder.join(name))
                .map_err(|error| error.error)?;
            self.parts += 1;
        }
        self.written = 0;
        Ok(())
    }

    /// Writes the rest. A table without rows is a file with its columns.
    pub(in crate::cli) fn finish(mut self) -> io::Result<()> {
        if self.waiting > 0 || (self.writer.is_none() && self.parts == 0) {
            self.write_group()?;
        }
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    use super::*;

    #[test]
    fn a_folder_gets_a_file_for_each_number_of_rows() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("lake");
        let mut rows = Rows::new(Output::Folder(folder.clone()), "scalars").unwrap();
        rows.limits = (2, 4);
        let columns = [("step", ColumnType::Integer), ("value", ColumnType::Float)];
        rows.head(columns.into_iter()).unwrap();
        for step in 0..11 {
            rows.row([&*step.to_string(), "NaN"].into_iter()).unwrap();
        }
        rows.finish().unwrap();
        let mut steps = Vec::new();
        for part in 0..3 {
            let file = fs::File::open(folder.join(format!("part-{part:05}.parquet"))).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            steps.push(reader.get_row_iter(None).unwrap().count());
        }
        assert_eq!(steps, [4, 4, 3]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn a_cell_of_another_type_is_an_error_with_its_column() {
        let mut out = Vec::new();
        let mut rows = Rows::new(Output::Stream(&mut out), "scalars").unwrap();
        rows.head(std::iter::once(("step", ColumnType::Integer)))
            .unwrap();
        let error = rows.row(std::iter::once("1.5")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`1.5` is no value of the column step")
        );
    }
}
