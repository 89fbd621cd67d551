//! Headers of tensor files, and names and tables of dumps: no panic, and no length that would overflow or exhaust
//! memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trainscope_format::formats::tensor_file::{HeaderError, StoredTensor};
use trainscope_format::formats::{mindspore_dump, npy, safetensors};

fn holds(tensor: &StoredTensor) {
    let data = tensor.data;
    assert!(data.offset.checked_add(data.len_bytes).is_some());
    let elements = tensor.shape.iter().try_fold(1_u64, |len, size| len.checked_mul(*size));
    assert!(tensor.shape.contains(&0) || elements.is_some());
    // A short input that claims great lengths.
    let mut bytes = vec![1; 16];
    tensor.bring_to_little_endian(&mut bytes);
    tensor.bring_to_row_major(&mut bytes);
    assert_eq!(bytes.len(), 16);
}

fuzz_target!(|bytes: &[u8]| {
    match npy::header(bytes) {
        Ok(tensor) => holds(&tensor),
        Err(HeaderError::Wants(len)) => assert!(len > bytes.len() as u64),
        Err(_) => {}
    }
    match safetensors::header(bytes) {
        Ok(file) => file.tensors.iter().for_each(holds),
        Err(HeaderError::Wants(len)) => assert!(len > bytes.len() as u64),
        Err(_) => {}
    }
    drop(mindspore_dump::statistics(bytes, drop));
    drop(mindspore_dump::mapping(bytes));
    drop(mindspore_dump::overflows(bytes));
    mindspore_dump::execution_order(bytes);
    if let Ok(name) = std::str::from_utf8(bytes) {
        mindspore_dump::DumpedFile::of(name);
    }
});
