//! `GET /api/compare/map`: differences of tensors and scalars over steps.
//!
//! The binary answer has the same fields as the JSON one but for the cells, which follow as `f32`:
//!
//! ```text
//! magic   4 bytes  "CMP1"
//! head    u32      length of the JSON in bytes, then the JSON with empty `cells`
//! cells   f32      rows × columns, row by row, little-endian; NaN and ∞ are differences, and absent, unread and other
//!                  cells are NaN with the bits of `ABSENT`, `UNREAD`, `OTHER_SHAPE` and `FAULT`
//! ```

use super::{Align, Deserialize, Float, Progress, Role, Serialize};

/// Most columns of a map.
pub const MAX_COLUMNS: usize = 200;
/// Rows of one answer, unless another number is given.
pub const DEFAULT_MAP_ROWS: usize = 100;
/// Most rows of one answer.
pub const MAX_MAP_ROWS: usize = 500;
/// Media type of the binary answer.
pub const MAP_MEDIA_TYPE: &str = "application/octet-stream";

const MAGIC: &[u8; 4] = b"CMP1";
/// Bits of a cell without points of both runs.
const ABSENT: u32 = 0x7fc0_0001;
/// Bits of a cell whose elements were not read yet.
const UNREAD: u32 = 0x7fc0_0002;
/// Bits of a cell whose tensors have other shapes.
const OTHER_SHAPE: u32 = 0x7fc0_0003;
/// Bits of a cell that cannot be read.
const FAULT: u32 = 0x7fc0_0004;

/// The query of `GET /api/compare/map`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct MapQuery {
    /// Name of the base.
    pub base: String,
    /// Name of the other run.
    pub other: String,
    /// Rank, 0 if left out.
    #[serde(default)]
    pub rank: u32,
    /// Tolerance for the first step that parts, which has a column of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// First step of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Last step of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Points that are compared with each other.
    #[serde(default)]
    pub align: Align,
    /// Rows whose name contains this text, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Tensors of this role; `scalar` for scalars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Number of rows to skip.
    #[serde(default)]
    pub from: usize,
    /// Most rows, 1 to [`MAX_MAP_ROWS`]; [`DEFAULT_MAP_ROWS`] if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Most columns, 1 to [`MAX_COLUMNS`], which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
}

/// Differences over steps: a row for each tensor or scalar, a column for each step or stretch of steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DifferenceMap {
    /// In the order within a step.
    pub rows: Vec<MapRow>,
    /// Number of rows that match the query.
    pub total: u64,
    /// Number of rows of each role, before `role` is applied; `scalar` for scalars.
    pub roles: std::collections::BTreeMap<String, u64>,
    /// Ascending.
    pub columns: Vec<MapColumn>,
    /// First known step where anything parts.
    pub first_step: Option<i64>,
    /// Cells row by row: the greatest difference of each.
    pub cells: Vec<Vec<MapCell>>,
    /// Reading of the cells in view; `null` when all are read. The same query again reads on.
    pub progress: Option<Progress>,
}

/// A row of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MapRow {
    /// Name of the tensor or tag.
    pub name: String,
    /// Role of a tensor; `null` for a scalar.
    pub role: Option<Role>,
    /// `true` if differences are those of statistics.
    pub by_statistics: bool,
}

/// A column of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MapColumn {
    /// First step.
    pub first: i64,
    /// Last step.
    pub last: i64,
}

/// A cell of a map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MapCell {
    /// A difference; NaN or infinite if only one of both has such elements.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    Difference(Float),
    /// No difference.
    Other(MapGap),
}

/// Reason why a cell has no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MapGap {
    /// One of the runs has no point there.
    Absent,
    /// The elements were not read yet.
    Unread,
    /// The shapes differ.
    OtherShape,
    /// It cannot be read.
    Fault,
}

/// Error for bytes of another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapError;

impl std::fmt::Display for MapError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer is not in the layout of this version")
    }
}

impl std::error::Error for MapError {}

#[expect(
    clippy::cast_possible_truncation,
    reason = "single precision is enough for a colour"
)]
fn bits(cell: MapCell) -> u32 {
    match cell {
        MapCell::Difference(Float(value)) if value.is_nan() => f32::NAN.to_bits(),
        MapCell::Difference(Float(value)) => (value as f32).to_bits(),
        MapCell::Other(MapGap::Absent) => ABSENT,
        MapCell::Other(MapGap::Unread) => UNREAD,
        MapCell::Other(MapGap::OtherShape) => OTHER_SHAPE,
        MapCell::Other(MapGap::Fault) => FAULT,
    }
}

fn cell(bits: u32) -> MapCell {
    match bits {
        ABSENT => MapCell::Other(MapGap::Absent),
        UNREAD => MapCell::Other(MapGap::Unread),
        OTHER_SHAPE => MapCell::Other(MapGap::OtherShape),
        FAULT => MapCell::Other(MapGap::Fault),
        bits => MapCell::Difference(Float(f32::from_bits(bits).into())),
    }
}

/// Writes a map as bytes. `head` is its JSON with empty `cells`.
pub fn encode_map(head: &[u8], cells: &[Vec<MapCell>]) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(8 + head.len() + 4 * cells.iter().map(Vec::len).sum::<usize>());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(head);
    for own in cells.iter().flatten() {
        out.extend_from_slice(&bits(*own).to_le_bytes());
    }
    out
}

/// Splits the bytes of a map into its JSON without cells, and the cells of all rows.
pub fn decode_map(bytes: &[u8]) -> Result<(&[u8], Vec<MapCell>), MapError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(MapError)?;
    let (len, rest) = rest.split_first_chunk::<4>().ok_or(MapError)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| MapError)?;
    let (head, cells) = rest.split_at_checked(len).ok_or(MapError)?;
    let (cells, odd) = cells.as_chunks::<4>();
    if !odd.is_empty() {
        return Err(MapError);
    }
    let cells = cells.iter().map(|own| cell(u32::from_le_bytes(*own)));
    Ok((head, cells.collect()))
}

impl DifferenceMap {
    /// Sets the cells of all rows, one after another.
    pub fn fill(&mut self, cells: &[MapCell]) -> Result<(), MapError> {
        let width = self.columns.len();
        if cells.len() != width * self.rows.len() {
            return Err(MapError);
        }
        self.cells = if width == 0 {
            vec![Vec::new(); self.rows.len()]
        } else {
            cells.chunks_exact(width).map(<[MapCell]>::to_vec).collect()
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_survive() {
        let gaps = [
            MapGap::Absent,
            MapGap::Unread,
            MapGap::OtherShape,
            MapGap::Fault,
        ];
        let numbers = [0.0, 0.5, f64::INFINITY];
        let mut row: Vec<MapCell> = gaps.map(MapCell::Other).to_vec();
        row.extend(numbers.map(|own| MapCell::Difference(Float(own))));
        let map = DifferenceMap {
            rows: vec![MapRow::default()],
            columns: vec![MapColumn::default(); row.len()],
            cells: vec![row],
            ..DifferenceMap::default()
        };
        let head = serde_json::to_vec(&DifferenceMap {
            cells: Vec::new(),
            ..map.clone()
        });
        let bytes = encode_map(&head.unwrap(), &map.cells);
        let (head, cells) = decode_map(&bytes).unwrap();
        let mut read: DifferenceMap = serde_json::from_slice(head).unwrap();
        assert_eq!(read.fill(&cells), Ok(()));
        assert_eq!(read, map);
        assert_eq!(read.fill(&cells[1..]), Err(MapError));
        assert_eq!(decode_map(&bytes[..bytes.len() - 1]), Err(MapError));
        assert_eq!(decode_map(b"CMP1"), Err(MapError));
        let nan = cell(bits(MapCell::Difference(Float(f64::NAN))));
        assert!(matches!(nan, MapCell::Difference(own) if own.0.is_nan()));
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<DifferenceMap>(&text).unwrap(), map);
    }
}
