//! Headers of tensor files and the tables of dumps, intact, cut and damaged: no panic, and no length that would
//! overflow or exhaust memory.

use proptest::prelude::*;
use trainscope_format::formats::tensor_file::{HeaderError, StoredTensor};
use trainscope_format::formats::{mindspore_dump, npy, safetensors};

fn npy_file() -> Vec<u8> {
    let header = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }      \n";
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), &[7; 24]].concat()
}

fn safetensors_file() -> Vec<u8> {
    let header = r#"{"__metadata__":{"execution_order":"a,b"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[8,12]}}"#;
    let len = (header.len() as u64).to_le_bytes();
    [&len[..], header.as_bytes(), &[7; 12]].concat()
}

const TABLE: &str = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,Zero Count\nReLU,ReLU-op1,0,0,17,output,0,24,float32,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n";

/// Invariants that every reader of a tensor relies on.
fn holds(tensor: &StoredTensor) {
    let data = tensor.data;
    assert!(data.offset.checked_add(data.len_bytes).is_some());
    let mut bytes = vec![1; 16];
    tensor.bring_to_little_endian(&mut bytes);
    tensor.bring_to_row_major(&mut bytes);
    assert_eq!(bytes.len(), 16);
}

fn read_everything(bytes: &[u8]) {
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
    mindspore_dump::DumpedFile::of(&String::from_utf8_lossy(bytes));
}

#[test]
fn every_cut_of_a_header_wants_more_and_never_too_much() {
    let file = npy_file();
    let whole = npy::header(&file).unwrap();
    for len in 0..file.len() {
        match npy::header(&file[..len]) {
            Ok(tensor) => assert_eq!(tensor, whole),
            Err(HeaderError::Wants(wanted)) => {
                assert!(wanted > len as u64 && wanted <= whole.data.offset.max(12));
            }
            Err(error) => panic!("{len}: {error}"),
        }
    }
    let file = safetensors_file();
    let whole = safetensors::header(&file).unwrap();
    assert_eq!(whole.len_bytes, file.len() as u64);
    for len in 0..file.len() {
        match safetensors::header(&file[..len]) {
            Ok(found) => assert_eq!(found, whole),
            Err(HeaderError::Wants(wanted)) => assert!(wanted > len as u64),
            Err(error) => panic!("{len}: {error}"),
        }
    }
}

proptest! {
    #[test]
    fn anything_may_stand_in_a_file(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_everything(&bytes);
    }

    #[test]
    fn damage_is_no_panic(
        which in 0..3_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = [npy_file(), safetensors_file(), TABLE.as_bytes().to_vec()][which].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_everything(&bytes);
    }

    #[test]
    fn headers_may_claim_anything(
        shape in proptest::collection::vec(any::<u64>(), 0..5),
        begin in any::<u64>(),
        end in any::<u64>(),
        len in any::<u64>(),
    ) {
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        let sizes = sizes.join(",");
        let json = format!("{{\"a\":{{\"dtype\":\"F64\",\"shape\":[{sizes}],\"data_offsets\":[{begin},{end}]}}}}");
        read_everything(&[&(json.len() as u64).to_le_bytes()[..], json.as_bytes()].concat());
        read_everything(&[&len.to_le_bytes()[..], json.as_bytes()].concat());
        let dictionary = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({sizes},)}}");
        let len = u32::try_from(dictionary.len()).unwrap().to_le_bytes();
        read_everything(&[b"\x93NUMPY\x02\x00", &len[..], dictionary.as_bytes()].concat());
    }

    #[test]
    fn names_with_anything_in_them(name in "\\PC*", slot in any::<u32>()) {
        let file = format!("Add.{name}.1.2.3.output.{slot}.DefaultFormat.npy");
        if let mindspore_dump::DumpedFile::Tensor(found) = mindspore_dump::DumpedFile::of(&file) {
            prop_assert_eq!(&*found.op_name, name);
            prop_assert_eq!(found.slot, slot);
        }
    }
}
