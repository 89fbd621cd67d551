//! safetensors files: the length of the header in eight bytes, the header as JSON, then the tensors.
//!
//! The header has type, shape and byte range of each tensor by name, counted from the end of the header, and texts of
//! the writer under `__metadata__`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::formats::tensor_file::{
    HeaderError, RefusedTensor, StoredTensor, TensorFile, len_bytes,
};
use crate::stretch::Stretch;
use crate::tensor::DType;
use crate::values::OpaqueTensor;

/// Maximum length of a header in the specification.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// Size of the length before the header.
const LENGTH_BYTES: u64 = 8;

/// Parses a header.
pub fn header(head: &[u8]) -> Result<TensorFile, HeaderError> {
    let Some(len) = head.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else {
        return Err(HeaderError::Wants(LENGTH_BYTES));
    };
    let corrupt = |offset, reason| HeaderError::Corrupt { offset, reason };
    if len > MAX_HEADER_BYTES {
        return Err(corrupt(0, format!("its header claims {len} bytes")));
    }
    // The header may be padded with spaces at its end, never at its beginning.
    if head.get(8).is_some_and(|first| *first != b'{') {
        return Err(corrupt(8, "its header is not JSON".to_owned()));
    }
    let data = LENGTH_BYTES + len;
    let json = usize::try_from(data)
        .ok()
        .and_then(|end| head.get(8..end))
        .ok_or(HeaderError::Wants(data))?;
    let Entries { metadata, tensors } = serde_json::from_slice(json).map_err(|error| {
        let column = (error.line() == 1).then_some(error.column() as u64);
        corrupt(
            LENGTH_BYTES + column.unwrap_or(0).saturating_sub(1),
            format!("its header is malformed: {error}"),
        )
    })?;
    let mut file = TensorFile {
        metadata,
        len_bytes: data,
        ..TensorFile::default()
    };
    for (name, entry) in tensors {
        let Some(dtype) = entry.known_type() else {
            file.opaque.push((
                name,
                OpaqueTensor {
                    dtype: entry.dtype,
                    shape: entry.shape,
                },
            ));
            continue;
        };
        match entry.place(dtype, data) {
            Ok(stretch) => {
                file.len_bytes = file.len_bytes.max(stretch.offset + stretch.len_bytes);
                file.tensors.push(StoredTensor {
                    name,
                    dtype,
                    shape: entry.shape,
                    data: stretch,
                    is_big_endian: false,
                    is_column_major: false,
                });
            }
            Err(reason) => file.refused.push(RefusedTensor {
                name,
                offset: data.saturating_add(entry.data_offsets[0]),
                reason,
            }),
        }
    }
    file.tensors.sort_by_key(|tensor| tensor.data);
    Ok(file)
}

/// Header entry of a tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl Entry {
    /// Element type, if supported.
    fn known_type(&self) -> Option<DType> {
        Some(match &*self.dtype {
            "BOOL" => DType::Bool,
            "U8" => DType::U8,
            "U16" => DType::U16,
            "U32" => DType::U32,
            "U64" => DType::U64,
            "I8" => DType::I8,
            "I16" => DType::I16,
            "I32" => DType::I32,
            "I64" => DType::I64,
            "F16" => DType::F16,
            "BF16" => DType::Bf16,
            "F8_E4M3" => DType::F8E4m3,
            "F8_E5M2" => DType::F8E5m2,
            "F32" => DType::F32,
            "F64" => DType::F64,
            _ => return None,
        })
    }

    /// Byte range in a file whose header ends at `data`.
    fn place(&self, dtype: DType, data: u64) -> Result<Stretch, String> {
        let [begin, end] = self.data_offsets;
        let len = len_bytes(dtype, &self.shape);
        if len.is_none() || end.checked_sub(begin) != len {
            return Err(format!(
                "its shape does not match its byte range {begin} to {end}"
            ));
        }
        let offset = data.checked_add(begin);
        let (Some(offset), true) = (offset, data.checked_add(end).is_some()) else {
            return Err("its offset is beyond the end of any file".to_owned());
        };
        Ok(Stretch {
            offset,
            len_bytes: end - begin,
        })
    }
}

/// A header in the order of the file.
struct Entries {
    metadata: Vec<(String, String)>,
    tensors: Vec<(String, Entry)>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Entries {
            metadata: Vec::new(),
            tensors: Vec::new(),
        };
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                entries.metadata = map.next_value::<Metadata>()?.0;
            } else {
                entries.tensors.push((name, map.next_value()?));
            }
        }
        Ok(entries)
    }
}

/// Texts by key; values of other types are skipped.
struct Metadata(Vec<(String, String)>);

#[derive(Deserialize)]
#[serde(untagged)]
enum MetadataValue {
    Text(String),
    Other(IgnoredAny),
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetadataVisitor;
        impl<'de> Visitor<'de> for MetadataVisitor {
            type Value = Metadata;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts by key")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
                let mut texts = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    match value {
                        MetadataValue::Text(text) => texts.push((key, text)),
                        MetadataValue::Other(IgnoredAny) => {}
                    }
                }
                Ok(Metadata(texts))
            }
        }
        deserializer.deserialize_map(MetadataVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::header;
    use crate::formats::tensor_file::HeaderError;
    use crate::tensor::DType;
    use crate::values::OpaqueTensor;

    fn file(json: &str) -> Vec<u8> {
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes()].concat()
    }

    #[test]
    fn tensors_come_in_the_order_of_their_bytes() {
        let json = r#"{"__metadata__":{"step":"2","odd":3},"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},
            "a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"empty":{"dtype":"I64","shape":[0],"data_offsets":[8,8]}} "#;
        let bytes = file(json);
        let found = header(&bytes).unwrap();
        let names: Vec<&str> = found.tensors.iter().map(|t| &*t.name).collect();
        assert_eq!(names, ["a", "b", "empty"]);
        assert_eq!(found.tensors[1].dtype, DType::Bf16);
        assert_eq!(found.tensors[1].data.offset, bytes.len() as u64 + 4);
        assert_eq!(found.metadata, [("step".to_owned(), "2".to_owned())]);
        assert_eq!(found.len_bytes, bytes.len() as u64 + 8);
    }

    #[test]
    fn a_tensor_that_cannot_be_read_keeps_none_of_the_others() {
        let found = header(&file(
            r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"C64","shape":[1],"data_offsets":[4,12]},
            "c":{"dtype":"F32","shape":[2],"data_offsets":[12,16]},"d":{"dtype":"U8","shape":[1],"data_offsets":[3,2]},
            "e":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]},
            "f":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551614,18446744073709551615]}}"#,
        ))
        .unwrap();
        assert_eq!(found.tensors.len(), 1);
        let refused: Vec<&str> = found.refused.iter().map(|r| &*r.name).collect();
        assert_eq!(refused, ["c", "d", "e", "f"]);
        let complex = OpaqueTensor {
            dtype: "C64".to_owned(),
            shape: vec![1],
        };
        assert_eq!(found.opaque, [("b".to_owned(), complex)]);
    }

    #[test]
    fn a_cut_header_says_how_much_it_wants() {
        let bytes = file("{}");
        assert_eq!(header(&bytes[..7]), Err(HeaderError::Wants(8)));
        assert_eq!(header(&bytes[..9]), Err(HeaderError::Wants(10)));
        assert!(header(&bytes).is_ok());
    }

    #[test]
    fn what_is_no_header_is_corrupt() {
        for bytes in [
            file("[]"),
            file("{\"a\": 1}"),
            file("{\"a\""),
            [0xff; 16].to_vec(),
        ] {
            assert!(
                matches!(header(&bytes), Err(HeaderError::Corrupt { .. })),
                "{bytes:?}"
            );
        }
    }
}
