//! Reads the JSON of the server: what serde makes of it, in three quarters of the code.
//!
//! Two things make the code that is derived for each type of answer large: a struct may also be written as an array, and
//! each mistake has its own message. The server writes objects, and a page that does not understand an answer says that
//! alone. [`Objects`] stands between the two ends: it asks for objects where a struct is wanted (not for the fields of a
//! variant of an enum), and mistakes have no text. Without it the page is larger by 28 kB after compression.

#![expect(
    clippy::inline_always,
    reason = "each of these passes on one call: as functions of their own they are compiled when a page is opened"
)]

use std::fmt::{self, Display, Formatter};

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};

/// The value that a document says, or none if it is no such value.
pub(crate) fn read<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
    let mut source = serde_json::Deserializer::from_slice(document);
    let value = T::deserialize(Objects(&mut source)).ok()?;
    source.end().ok().map(|()| value)
}

/// A part of the conversation of a type with the reader of JSON, passed on with both changes.
struct Objects<T>(T);

/// An answer is not what was expected.
#[derive(Debug)]
struct Mistake;

impl Display for Mistake {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Mistake {}

impl Error for Mistake {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// A mistake as the reader of JSON has it.
#[inline(never)]
fn mistake<E: Error>() -> E {
    E::custom("")
}

/// What a type expects next, asked of the reader of JSON.
macro_rules! expected {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {$(
        #[inline(always)]
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Mistake> {
            self.0.$method($($name,)* Objects(visitor)).map_err(|_| Mistake)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = Mistake;

    expected! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// What the reader of JSON has found, handed to a type.
macro_rules! found {
    ($($method:ident($($value:ident: $type:ty)?);)*) => {$(
        fn $method<E: Error>(self, $($value: $type)?) -> Result<V::Value, E> {
            self.0.$method($($value)?).map_err(|_: Mistake| mistake())
        }
    )*};
}

/// The same, where the type goes on asking.
macro_rules! entered {
    ($($method:ident($trait:ident);)*) => {$(
        fn $method<A: $trait<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
            self.0.$method(Objects(inner)).map_err(|_| mistake())
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    found! {
        visit_bool(value: bool);
        visit_i64(value: i64);
        visit_u64(value: u64);
        visit_f64(value: f64);
        visit_str(value: &str);
        visit_borrowed_str(value: &'de str);
        visit_string(value: String);
        visit_none();
        visit_unit();
    }

    entered! {
        visit_some(Deserializer);
        visit_newtype_struct(Deserializer);
        visit_seq(SeqAccess);
        visit_map(MapAccess);
        visit_enum(EnumAccess);
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = Mistake;

    #[inline(always)]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        self.0.next_element_seed(Objects(seed)).map_err(|_| Mistake)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = Mistake;

    #[inline(always)]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        self.0.next_key_seed(Objects(seed)).map_err(|_| Mistake)
    }

    #[inline(always)]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        self.0.next_value_seed(Objects(seed)).map_err(|_| Mistake)
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = Mistake;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Mistake> {
        let (value, variant) = self.0.variant_seed(Objects(seed)).map_err(|_| Mistake)?;
        Ok((value, Objects(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        self.0.unit_variant().map_err(|_| Mistake)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Mistake> {
        let read = self.0.newtype_variant_seed(Objects(seed));
        read.map_err(|_| Mistake)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Mistake> {
        let read = self.0.tuple_variant(len, Objects(visitor));
        read.map_err(|_| Mistake)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let read = self.0.struct_variant(fields, Objects(visitor));
        read.map_err(|_| Mistake)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    #[inline(always)]
    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<S::Value, D::Error> {
        let value = self.0.deserialize(Objects(source));
        value.map_err(|_| mistake())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::read;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        number: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<u8>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Variant {
        Unit,
        Newtype(Inner),
        Tuple(i64, String),
        Struct { inner: Inner },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Whole {
        text: String,
        steps: Vec<i64>,
        maybe: Option<Inner>,
        variants: Vec<Variant>,
        either: Vec<Either>,
        pair: (u32, bool),
        by_name: BTreeMap<String, Inner>,
        #[serde(flatten)]
        flat: Inner,
    }

    fn inner(number: f64) -> Inner {
        let left_out = None;
        Inner { number, left_out }
    }

    #[test]
    fn what_serde_writes_is_read() {
        let whole = Whole {
            text: "a \"b\" \u{1F600} \n".into(),
            steps: vec![i64::MIN, -1, 0, i64::MAX],
            maybe: Some(inner(0.1 + 0.2)),
            variants: vec![
                Variant::Unit,
                Variant::Newtype(inner(5e-324)),
                Variant::Tuple(-3, "x".into()),
                Variant::Struct {
                    inner: inner(f64::MAX),
                },
            ],
            either: vec![Either::Number(7), Either::Text("seven".into())],
            pair: (u32::MAX, true),
            by_name: [("k".to_owned(), inner(-0.0))].into(),
            flat: Inner {
                number: 1.0,
                left_out: Some(3),
            },
        };
        let document = serde_json::to_vec(&whole).unwrap();
        assert_eq!(read::<Whole>(&document), Some(whole));
    }

    #[test]
    fn anything_else_is_not() {
        assert_eq!(
            read::<Inner>(br#"{"number":1,"new":[1]}"#),
            Some(inner(1.0))
        );
        for wrong in [
            "",
            "{",
            "[1.0]",
            "[1.0,null]",
            r#"{"number":"1"}"#,
            r#"{"left_out":1}"#,
            r#"{"number":1,"number":1}"#,
            r#"{"number":1} x"#,
            r#"{"number":1,"left_out":256}"#,
        ] {
            assert_eq!(read::<Inner>(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(read::<Variant>(br#""other""#), None);
    }
}
