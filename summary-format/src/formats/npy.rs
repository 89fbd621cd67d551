//! `NumPy`'s `.npy` files: a header that is a Python dictionary, then the elements of one tensor.
//!
//! Layout: `\x93NUMPY`, major and minor version (1.0, 2.0 or 3.0), length of the header (2 bytes in version 1, else
//! 4), the header `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, then the elements.

use crate::formats::tensor_file::{HeaderError, StoredTensor, len_bytes};
use crate::stretch::Stretch;
use crate::tensor::DType;
use crate::values::OpaqueTensor;

/// First bytes of every file.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Maximum length of a header: 10,000 dimensions need less.
const MAX_HEADER_BYTES: u64 = 1 << 18;

/// Parses a header. The tensor has no name: the path of the file is its name.
pub fn header(head: &[u8]) -> Result<StoredTensor, HeaderError> {
    let known = head.len().min(MAGIC.len());
    if head[..known] != MAGIC[..known] {
        return Err(corrupt(
            0,
            "it does not begin with the npy magic (\\x93NUMPY)",
        ));
    }
    let Some(&[major, _]) = head.get(6..8).and_then(|v| v.first_chunk()) else {
        return Err(HeaderError::Wants(8));
    };
    let (len, start) = match (major, head.get(8..10), head.get(8..12)) {
        (1, Some(&[a, b]), _) => (u64::from(u16::from_le_bytes([a, b])), 10),
        (2 | 3, _, Some(&[a, b, c, d])) => (u64::from(u32::from_le_bytes([a, b, c, d])), 12),
        (1..=3, ..) => return Err(HeaderError::Wants(12)),
        _ => {
            return Err(HeaderError::Unsupported {
                offset: 6,
                reason: format!("it has format version {major}; versions 1 to 3 are supported"),
            });
        }
    };
    if len > MAX_HEADER_BYTES {
        return Err(corrupt(8, format!("its header claims {len} bytes")));
    }
    let data = start + len;
    let dictionary = usize::try_from(start)
        .ok()
        .zip(usize::try_from(data).ok())
        .and_then(|(start, end)| head.get(start..end))
        .ok_or(HeaderError::Wants(data))?;
    let text = String::from_utf8_lossy(dictionary);
    let Dictionary {
        descr,
        is_column_major,
        shape,
    } = Dictionary::read(&text).map_err(|what| corrupt(start, format!("its header {what}")))?;
    let (dtype, is_big_endian) = match element_type(&descr) {
        Ok(known) => known,
        Err(dtype) => return Err(HeaderError::Opaque(OpaqueTensor { dtype, shape })),
    };
    let len_bytes = len_bytes(dtype, &shape)
        .filter(|len| data.checked_add(*len).is_some())
        .ok_or_else(|| corrupt(start, "the shape in its header is larger than any file"))?;
    Ok(StoredTensor {
        name: String::new(),
        dtype,
        shape,
        data: Stretch {
            offset: data,
            len_bytes,
        },
        is_big_endian,
        is_column_major,
    })
}

fn corrupt(offset: u64, reason: impl Into<String>) -> HeaderError {
    HeaderError::Corrupt {
        offset,
        reason: reason.into(),
    }
}

/// Element type of a `descr` and `true` if it is big-endian; the error is the name of an unsupported type. Python
/// objects are a pickle, which is never read: reading one runs its code.
fn element_type(descr: &str) -> Result<(DType, bool), String> {
    let (is_big_endian, code) = match descr.split_at_checked(1) {
        Some((">", code)) => (true, code),
        Some(("<" | "|" | "=", code)) => (false, code),
        _ => (false, descr),
    };
    let dtype = match code {
        "b1" | "?" => DType::Bool,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        // NumPy has no such type: packages that add it write raw bytes.
        "bfloat16" | "V2" => DType::Bf16,
        _ => {
            return Err(match (code, code.as_bytes().first()) {
                ("c8", _) => "complex64".to_owned(),
                ("c16", _) => "complex128".to_owned(),
                // Size in bytes: 80 or 128 bits of precision, depending on the platform.
                ("f12" | "f16", _) => "longdouble".to_owned(),
                (_, Some(b'O')) => "Python object".to_owned(),
                (_, Some(b'U')) => format!("string ({code})"),
                (_, Some(b'S' | b'a')) => format!("bytes ({code})"),
                (_, Some(b'M')) => code.replacen("M8", "datetime64", 1),
                (_, Some(b'm')) => code.replacen("m8", "timedelta64", 1),
                (_, Some(b'[')) => "record".to_owned(),
                _ => code.to_owned(),
            });
        }
    };
    Ok((dtype, is_big_endian))
}

/// The three entries of a header.
struct Dictionary {
    descr: String,
    is_column_major: bool,
    shape: Vec<u64>,
}

impl Dictionary {
    /// Parses a Python dictionary with these entries in any order. The error is a sentence that begins with a verb.
    fn read(text: &str) -> Result<Self, String> {
        let mut rest = Rest(text.trim_matches(['\n', '\0', ' ']));
        let (mut descr, mut order, mut shape) = (None, None, None);
        rest.expect('{')?;
        while !rest.skip('}') {
            let key = rest.quoted()?;
            rest.expect(':')?;
            match &*key {
                "descr" => descr = Some(rest.descr()?),
                "fortran_order" => order = Some(rest.boolean()?),
                "shape" => shape = Some(rest.tuple()?),
                other => return Err(format!("has the unknown key {other:?}")),
            }
            if !rest.skip(',') {
                rest.expect('}')?;
                break;
            }
        }
        let missing = |key: &str| format!("has no key `{key}`");
        Ok(Self {
            descr: descr.ok_or_else(|| missing("descr"))?,
            is_column_major: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// Unread rest of the header.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip(&mut self, wanted: char) -> bool {
        self.0 = self.0.trim_start();
        match self.0.strip_prefix(wanted) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.skip(wanted) {
            Ok(())
        } else {
            Err(format!("is not a dictionary: `{wanted}` is missing"))
        }
    }

    fn quoted(&mut self) -> Result<String, String> {
        self.0 = self.0.trim_start();
        let quote = self.0.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let text = quote.and_then(|quote| self.0[1..].split_once(quote));
        let (text, rest) = text.ok_or("is not a dictionary: a quoted text is missing")?;
        self.0 = rest;
        Ok(text.to_owned())
    }

    /// A quoted code, or the list of fields of a record type, which is unsupported.
    fn descr(&mut self) -> Result<String, String> {
        if !self.0.trim_start().starts_with('[') {
            return self.quoted();
        }
        let mut depth = 0_usize;
        for (at, c) in self.0.char_indices() {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                let (list, rest) = self.0.split_at(at + 1);
                self.0 = rest;
                return Ok(list.trim_start().to_owned());
            }
        }
        Err("is truncated within `descr`".to_owned())
    }

    fn word(&mut self) -> &'a str {
        self.0 = self.0.trim_start();
        let end = self
            .0
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn boolean(&mut self) -> Result<bool, String> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err("has a `fortran_order` that is neither True nor False".to_owned()),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.skip(')') {
            // Python 2 wrote long integers with an L.
            let size = self.word().trim_end_matches('L');
            sizes.push(
                size.parse()
                    .map_err(|_| "has an invalid `shape`".to_owned())?,
            );
            if !self.skip(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::header;
    use crate::formats::tensor_file::HeaderError;
    use crate::tensor::DType;

    fn file(version: u8, dictionary: &str) -> Vec<u8> {
        let mut bytes = [&super::MAGIC[..], &[version, 0]].concat();
        let len = u32::try_from(dictionary.len()).unwrap().to_le_bytes();
        bytes.extend_from_slice(&len[..if version == 1 { 2 } else { 4 }]);
        bytes.extend_from_slice(dictionary.as_bytes());
        bytes
    }

    fn plain(descr: &str, shape: &str) -> Vec<u8> {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}  \n");
        file(1, &text)
    }

    #[test]
    fn headers_of_every_version() {
        for version in 1..=3 {
            let bytes = file(
                version,
                "{\"shape\": (2, 3L), 'fortran_order': True, 'descr': '>f8'}\n",
            );
            let tensor = header(&bytes).unwrap();
            assert_eq!(
                (tensor.dtype, &*tensor.shape),
                (DType::F64, &[2_u64, 3][..])
            );
            assert!(tensor.is_big_endian && tensor.is_column_major);
            assert_eq!(
                (tensor.data.offset, tensor.data.len_bytes),
                (bytes.len() as u64, 48)
            );
        }
    }

    #[test]
    fn single_numbers_and_empty_tensors() {
        assert_eq!(
            header(&plain("'<f4'", "()")).unwrap().shape,
            Vec::<u64>::new()
        );
        assert_eq!(header(&plain("'<f4'", "(3,)")).unwrap().data.len_bytes, 12);
        let empty = header(&plain("'|b1'", "(0, 18446744073709551615)")).unwrap();
        assert_eq!(empty.data.len_bytes, 0);
    }

    #[test]
    fn a_cut_header_says_how_much_it_wants() {
        let bytes = plain("'<f4'", "(3,)");
        for len in 0..bytes.len() {
            let wanted = match header(&bytes[..len]) {
                Err(HeaderError::Wants(wanted)) => wanted,
                other => panic!("{other:?}"),
            };
            assert!(
                wanted > len as u64 && wanted <= bytes.len() as u64,
                "{wanted}"
            );
        }
    }

    #[test]
    fn types_that_are_not_computed_with_keep_their_name_and_shape() {
        for (descr, name) in [
            ("'|O'", "Python object"),
            ("'<c8'", "complex64"),
            ("'>c16'", "complex128"),
            ("'<U5'", "string (U5)"),
            ("'|S3'", "bytes (S3)"),
            ("'<M8[ns]'", "datetime64[ns]"),
            ("'<m8[s]'", "timedelta64[s]"),
            ("[('a', '<f4'), ('b', [('c', '<i4')])]", "record"),
            ("'<f16'", "longdouble"),
            ("'<f1'", "f1"),
            ("'|V1'", "V1"),
        ] {
            match header(&plain(descr, "(2, 3)")) {
                Err(HeaderError::Opaque(found)) => {
                    assert_eq!((&*found.dtype, &*found.shape), (name, &[2, 3][..]));
                }
                other => panic!("{descr}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_header_is_corrupt() {
        for bytes in [
            b"\x93NUMPX\x01\x00".to_vec(),
            file(2, "no dictionary"),
            file(1, "{'descr': '<f4', 'fortran_order': False}"),
            file(1, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}"),
            file(1, "{'descr': [[, 'fortran_order': False, 'shape': (1,)}"),
            plain("'<f4'", "(-1,)"),
            plain("'<f8'", "(4294967296, 4294967296)"),
            [&super::MAGIC[..], &[2, 0, 255, 255, 255, 255]].concat(),
        ] {
            assert!(
                matches!(header(&bytes), Err(HeaderError::Corrupt { .. })),
                "{bytes:?}"
            );
        }
    }
}
