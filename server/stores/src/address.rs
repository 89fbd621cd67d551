//! Addresses of recordings in object stores, such as `s3://bucket/runs/a`.

use std::path::Path;

/// A store, and a key or the common beginning of keys in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub(crate) scheme: Scheme,
    /// Bucket, container, or host with port.
    pub(crate) bucket: String,
    /// Without a slash at its start and end; empty for the whole bucket.
    pub(crate) key: String,
}

/// A protocol of object stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scheme {
    S3,
    Google,
    Azure,
    Http,
    Https,
}

const SCHEMES: [(&str, Scheme); 5] = [
    ("s3", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Https),
];

/// Reason why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The scheme is unknown.
    #[error("{0}:// is no known kind of address: use s3://, gs://, az:// or https://")]
    Scheme(String),
    /// The scheme is not followed by two slashes.
    #[error("an address begins with {0}://, with two slashes")]
    Slashes(String),
    /// There is no bucket.
    #[error("the address names no {0}: {1}")]
    NoBucket(&'static str, &'static str),
    /// The bucket cannot exist.
    #[error("{0} is no name of a {1}: {2}")]
    Bucket(String, &'static str, &'static str),
}

impl Scheme {
    const fn text(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The word for its first part.
    const fn part(self) -> &'static str {
        match self {
            Self::S3 | Self::Google => "bucket",
            Self::Azure => "container",
            Self::Http | Self::Https => "host",
        }
    }
}

/// True for a text that is meant as an address: two or more letters before `:/`.
pub fn is_address(path: &Path) -> bool {
    path.to_str().and_then(scheme_of).is_some()
}

fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(":/")?;
    let is_scheme = scheme.len() >= 2 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_scheme.then_some((scheme, rest))
}

impl Address {
    /// The address of a path; `None` for a path of this machine.
    pub fn of(path: &Path) -> Option<Self> {
        Self::parse(path.to_str()?)?.ok()
    }

    /// Parses an address; `None` for a text that is not meant as one.
    pub fn parse(text: &str) -> Option<Result<Self, AddressError>> {
        let (scheme, rest) = scheme_of(text)?;
        Some(Self::parse_rest(scheme, rest))
    }

    fn parse_rest(name: &str, rest: &str) -> Result<Self, AddressError> {
        let lower = name.to_ascii_lowercase();
        let known = SCHEMES.iter().find(|(text, _)| *text == lower);
        let Some((_, scheme)) = known else {
            return Err(AddressError::Scheme(name.to_owned()));
        };
        let Some(rest) = rest.strip_prefix('/') else {
            return Err(AddressError::Slashes(lower));
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let part = scheme.part();
        if bucket.is_empty() {
            let example = match scheme {
                Scheme::S3 => "s3://bucket/folder",
                Scheme::Google => "gs://bucket/folder",
                Scheme::Azure => "az://container/folder",
                Scheme::Http | Scheme::Https => "https://host/folder",
            };
            return Err(AddressError::NoBucket(part, example));
        }
        if let Some(rule) = broken_rule(*scheme, bucket) {
            return Err(AddressError::Bucket(bucket.to_owned(), part, rule));
        }
        Ok(Self {
            scheme: *scheme,
            bucket: bucket.to_owned(),
            key: key.trim_matches('/').to_owned(),
        })
    }

    /// The store alone, such as `s3://bucket`.
    pub fn store(&self) -> String {
        format!("{}://{}", self.scheme.text(), self.bucket)
    }

    /// The address of another key of its store.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// A key below this address, without the address; `None` for a key elsewhere.
    pub(crate) fn below<'a>(&self, key: &'a str) -> Option<&'a str> {
        if self.key.is_empty() {
            return Some(key);
        }
        key.strip_prefix(&*self.key)?.strip_prefix('/')
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme.text(), self.bucket)?;
        if !self.key.is_empty() {
            write!(f, "/{}", self.key)?;
        }
        Ok(())
    }
}

/// The rule about names that a bucket breaks.
fn broken_rule(scheme: Scheme, bucket: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends_plain = |text: &str| {
        let bytes = text.as_bytes();
        bytes.first().copied().is_some_and(is_plain) && bytes.last().copied().is_some_and(is_plain)
    };
    let all = |more: &[u8]| {
        bucket
            .bytes()
            .all(|byte| is_plain(byte) || more.contains(&byte))
    };
    let (is_valid, rule) = match scheme {
        // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
        Scheme::S3 => (
            (3..=63).contains(&bucket.len()) && all(b".-") && ends_plain(bucket),
            "3 to 63 lower-case letters, digits, dots and hyphens",
        ),
        // https://cloud.google.com/storage/docs/buckets#naming
        Scheme::Google => (
            (3..=222).contains(&bucket.len()) && all(b".-_") && ends_plain(bucket),
            "3 to 222 lower-case letters, digits, dots, hyphens and underscores",
        ),
        // https://learn.microsoft.com/en-us/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
        Scheme::Azure => (
            (3..=63).contains(&bucket.len()) && all(b"-") && ends_plain(bucket),
            "3 to 63 lower-case letters, digits and hyphens",
        ),
        Scheme::Http | Scheme::Https => (
            !bucket
                .bytes()
                .any(|byte| byte.is_ascii_control() || b" @?#\\".contains(&byte)),
            "a name or a number, and a port if need be; no user and no password",
        ),
    };
    (!is_valid).then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_store_and_a_key() {
        for (text, shown, store, key) in [
            ("s3://bucket", "s3://bucket", "s3://bucket", ""),
            ("s3://bucket/", "s3://bucket", "s3://bucket", ""),
            ("S3://bucket/a/b/", "s3://bucket/a/b", "s3://bucket", "a/b"),
            ("gs://b_b/a//b", "gs://b_b/a//b", "gs://b_b", "a//b"),
            (
                "https://host:1/a",
                "https://host:1/a",
                "https://host:1",
                "a",
            ),
        ] {
            let address = Address::parse(text).unwrap().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!((&*address.store(), &*address.key), (store, key));
        }
        for text in ["runs", "./s3", "/s3:/x", "c:/runs", "a b:/c"] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        for (text, reason) in [
            ("s3:/bucket", "two slashes"),
            ("s3://", "names no bucket"),
            ("s3:///x", "names no bucket"),
            ("s4://x", "s4:// is no known kind"),
            ("s3://Bucket_", "lower-case"),
            ("s3://ab", "3 to 63"),
            ("az://under_score", "hyphens"),
            ("https://user:word@host/x", "no password"),
        ] {
            let error = Address::parse(text).unwrap().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn keys_are_below_whole_folders_only() {
        let address = Address::parse("s3://bucket/runs").unwrap().unwrap();
        assert_eq!(address.below("runs/a/b"), Some("a/b"));
        assert_eq!(address.below("runs2/a"), None);
        assert_eq!(address.below("runs"), None);
        assert_eq!(address.with_key("").below("runs"), Some("runs"));
    }
}
