//! Export of a slice as npy or CSV, piece by piece, in any size.

use trainscope_api::tensors::{Axis, Slice};
use trainscope_format::csv;
use trainscope_format::tensor::DType;

use crate::tensor_files::read::TensorReadError;
use crate::tensor_files::stored::ReadableTensor;

/// Receiver of the next piece of a file; `false` to stop.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Vec<u8>) -> bool;

/// Maximum number of elements in a CSV table.
pub(crate) const MAX_CSV_ELEMENTS: u64 = 10_000_000;

/// Approximate size of a piece of text.
const TEXT_BYTES: usize = 128 << 10;

/// The name of a type in `NumPy`; `None` if it has none.
pub(crate) const fn numpy_type(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Bf16 | DType::F8E4m3 | DType::F8E5m2 => return None,
    })
}

/// Writes a slice as npy, of the same type; types without a `NumPy` name become `f32`, which represents each of their
/// values.
pub(crate) fn npy(
    stored: &ReadableTensor,
    slice: &Slice,
    sink: Sink<'_>,
) -> Result<(), TensorReadError> {
    let (descr, widens) = match numpy_type(stored.dtype) {
        Some(descr) => (descr, false),
        None => ("<f4", true),
    };
    let extent = slice.extent();
    let sizes: Vec<String> = extent.iter().map(|len| format!("{len},")).collect();
    let order = if stored.is_column_major() {
        "True"
    } else {
        "False"
    };
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({}), }}",
        sizes.join(" ")
    );
    // Elements begin at a multiple of 64.
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(
        u16::try_from(header.len())
            .unwrap_or(u16::MAX)
            .to_le_bytes(),
    );
    file.extend(header.as_bytes());
    if !sink(file) {
        return Ok(());
    }
    let mut blocks = stored.blocks(slice);
    while let Some((_, block)) = blocks.next()? {
        let piece = if widens {
            let elements = block.chunks_exact(stored.dtype.size_bytes());
            elements
                .flat_map(|e| narrow(stored.dtype.number(e)).to_le_bytes())
                .collect()
        } else {
            block.to_vec()
        };
        if !sink(piece) {
            return Ok(());
        }
    }
    Ok(())
}

/// Writes a slice of at most two ranges as lines of numbers, each the shortest that reads back equal.
pub(crate) fn csv(
    stored: &ReadableTensor,
    slice: &Slice,
    sink: Sink<'_>,
) -> Result<(), TensorReadError> {
    let free = slice.free();
    // One axis is a column: an element per line.
    let rows = free.first().map_or(1, |axis| slice.axes[*axis].len());
    let mut text = Vec::new();
    for row in 0..rows {
        let mut line = slice.clone();
        if let Some(axis) = free.first() {
            line.axes[*axis] = Axis::At(slice.axes[*axis].start() + row);
        }
        let mut blocks = stored.blocks(&line);
        while let Some((first, block)) = blocks.next()? {
            let elements = block.chunks_exact(stored.dtype.size_bytes());
            for (number, element) in (first..).zip(elements) {
                if number > 0 {
                    text.push(b',');
                }
                text.extend(written(stored.dtype, element).into_bytes());
                if text.len() >= TEXT_BYTES && !sink(std::mem::take(&mut text)) {
                    return Ok(());
                }
            }
        }
        text.push(b'\n');
    }
    sink(text);
    Ok(())
}

fn written(dtype: DType, element: &[u8]) -> String {
    let number = dtype.number(element);
    match (dtype, element.first_chunk()) {
        (DType::I64, Some(bytes)) => i64::from_le_bytes(*bytes).to_string(),
        (DType::U64, Some(bytes)) => u64::from_le_bytes(*bytes).to_string(),
        _ if dtype.min_normal_exponent().is_none() => format!("{number}"),
        (DType::F64, _) => csv::number(number),
        _ => csv::number(narrow(number)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the numbers were no wider than 32 bits"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}
