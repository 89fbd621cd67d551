//! Elements of a stored tensor in all sources and orders, and truncated files.

use std::io::Write as _;

use trainscope_api::tensors::{Element, Slice};
use trainscope_format::Stretch;
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::tensor::DType;

use super::{ReadableTensor, elements};
use crate::files::File;

/// A tensor of the numbers 0, 1, 2, … in the order of the indices, behind seven other bytes.
fn counting(shape: &[u64], is_big_endian: bool, is_column_major: bool) -> ReadableTensor {
    let len: u64 = shape.iter().product();
    let mut bytes = vec![9; 7];
    for place in 0..len {
        let mut number = 0;
        // Indices at this position, and their number in the order of the indices.
        let mut rest = place;
        let mut indices = vec![0; shape.len()];
        let axes: Vec<usize> = if is_column_major {
            (0..shape.len()).collect()
        } else {
            (0..shape.len()).rev().collect()
        };
        for axis in axes {
            indices[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        for (index, size) in indices.iter().zip(shape) {
            number = number * size + index;
        }
        let number = i32::try_from(number).unwrap();
        bytes.extend(if is_big_endian {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        });
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    ReadableTensor::in_file(
        File::Local(file),
        header(shape, DType::I32, is_big_endian, is_column_major),
    )
}

fn header(shape: &[u64], dtype: DType, big: bool, column: bool) -> StoredTensor {
    StoredTensor {
        name: String::new(),
        dtype,
        shape: shape.to_vec(),
        data: Stretch {
            offset: 7,
            len_bytes: shape.iter().product::<u64>() * dtype.size_bytes() as u64,
        },
        is_big_endian: big,
        is_column_major: column,
    }
}

/// The same, index by index.
fn slowly(shape: &[u64], slice: &Slice) -> Vec<f64> {
    let mut all = vec![0_u64];
    for (axis, &size) in slice.axes.iter().zip(shape) {
        let indices = axis.start()..axis.start() + axis.len();
        let next = |number: u64| indices.clone().map(move |index| number * size + index);
        all = all.into_iter().flat_map(next).collect();
    }
    all.into_iter().map(|number| number as f64).collect()
}

#[test]
fn every_slice_of_every_order_is_what_its_indices_say() {
    for shape in [
        &[][..],
        &[5],
        &[40, 300],
        &[6, 5, 700],
        &[2, 1, 3, 4],
        &[2, 1, 2, 1, 2, 2, 1, 2, 3],
    ] {
        for (big, column) in [(false, false), (true, false), (false, true), (true, true)] {
            let stored = counting(shape, big, column);
            for text in [
                "",
                "...",
                "1",
                "-1",
                "...,0",
                "1:4",
                "...,1:3",
                "0,...,0",
                "1:2,...,2:3",
            ] {
                let Ok(slice) = Slice::parse(text, shape) else {
                    continue;
                };
                let (bytes, read_bytes) = stored.read(&slice).unwrap();
                let found: Vec<f64> = elements(DType::I32, &bytes)
                    .iter()
                    .map(Element::number)
                    .collect();
                assert_eq!(
                    found,
                    slowly(shape, &slice),
                    "{shape:?} {text} {big} {column}"
                );
                assert!(read_bytes >= bytes.len() as u64);
                // The indices of each element lead back to it.
                let mut blocks = stored.blocks(&slice);
                if let Some((first, block)) = blocks.next().unwrap() {
                    let block = elements(DType::I32, block);
                    for (counter, element) in (first..).zip(&block) {
                        let indices = blocks.plan.indices(counter);
                        let number = indices.iter().zip(shape).fold(0, |n, (i, s)| n * s + i);
                        assert!((element.number() - number as f64).abs() < 0.5);
                    }
                }
            }
        }
    }
}

#[test]
fn only_what_is_needed_is_read() {
    // 1,000 rows of 4,000 bytes.
    let stored = counting(&[1_000, 1_000], false, false);
    let read = |text: &str| {
        let slice = Slice::parse(text, &stored.shape).unwrap();
        stored.read(&slice).unwrap().1
    };
    assert_eq!(read("500,:"), 4_000);
    assert_eq!(read("10:20,10:20"), 10 * 40);
    assert_eq!(read(":,999"), 4 * 1_000);
    assert_eq!(read("0:0,:"), 0);
    // Close together: gaps are read along, once.
    let narrow = counting(&[1_000, 4], false, false);
    let slice = Slice::parse(":,1", &narrow.shape).unwrap();
    assert_eq!(narrow.read(&slice).unwrap().1, 999 * 16 + 4);
}

#[test]
fn of_a_large_tensor_little_is_read() {
    // A sparse file of 4 GiB, in both orders.
    let shape = [1_024, 1_024, 1_024];
    for is_column_major in [false, true] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(7 + (4 << 30)).unwrap();
        let header = header(&shape, DType::F32, false, is_column_major);
        let stored = ReadableTensor::in_file(File::Local(file), header);
        for (text, most) in [
            ("512,512:640,512:640", 8 << 20),
            ("512:640,7,512:640", 8 << 20),
            ("512:640,512:640,7", 8 << 20),
            ("5,5,:", 4 << 20),
            ("-1,-1,-1", 4),
        ] {
            let slice = Slice::parse(text, &shape).unwrap();
            let (bytes, read_bytes) = stored.read(&slice).unwrap();
            assert_eq!(bytes.len() as u64, slice.len() * 4);
            assert!(read_bytes <= most, "{text}: {read_bytes}");
        }
    }
}

#[test]
fn a_file_that_ends_early_still_has_what_it_has() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(7 + 4 * 100).unwrap();
    // Its declared size exceeds any disk.
    let stored = ReadableTensor::in_file(
        File::Local(file),
        header(&[1 << 30, 1 << 20], DType::I32, false, false),
    );
    let read = |text: &str| stored.read(&Slice::parse(text, &stored.shape).unwrap());
    assert_eq!(read("0,0:100").unwrap().0.len(), 400);
    let (offset, reason) = read("0,0:101").unwrap_err().offset_and_reason();
    assert_eq!(offset, 407);
    assert!(reason.contains("it ends at byte 407"), "{reason}");
    assert!(read("-1,-1").is_err());
}

#[test]
fn the_last_element_of_a_record_repeats() {
    let bytes = [1.5_f32, -2.5].map(f32::to_le_bytes).concat();
    let stored = ReadableTensor::inline(header(&[2, 3], DType::F32, false, false), bytes);
    let slice = Slice::whole(&stored.shape);
    let numbers = elements(DType::F32, &stored.read(&slice).unwrap().0);
    let numbers: Vec<f64> = numbers.iter().map(Element::number).collect();
    assert_eq!(numbers, [1.5, -2.5, -2.5, -2.5, -2.5, -2.5]);
    let none = ReadableTensor::inline(header(&[2], DType::F32, false, false), Vec::new());
    assert_eq!(none.read(&Slice::whole(&[2])).unwrap().0, [0; 8]);
}

#[test]
fn integers_are_exact() {
    let found = elements(DType::I64, &[i64::MAX, -3].map(i64::to_le_bytes).concat());
    let largest = Element::Digits("9223372036854775807".to_owned());
    assert_eq!(found, [largest, Element::Number(-3.0)]);
}
