//! Configuration files of a training: TOML, JSON and YAML flattened to named values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::hparams::HparamValue;

/// Largest file that is read, in bytes.
pub const MAX_LEN_BYTES: u64 = 1 << 20;
/// Maximum number of values of a file.
pub const MAX_LEAVES: usize = 1_000;
/// Maximum depth of a value below the root of its file.
pub const MAX_DEPTH: usize = 8;
/// Lists of more elements are given as their length.
const MAX_LIST: usize = 8;
/// Maximum number of nodes of a YAML file, aliases expanded.
const MAX_NODES: usize = 10_000;

/// Notation of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML 1.2; `1e-3` is a number.
    Yaml,
}

/// Names of files with the settings of a training, in the folder of a run.
const NAMES: [(&str, &[&str]); 4] = [
    ("config", &["yaml", "yml", "json", "toml"]),
    // Lightning.
    ("hparams", &["yaml", "yml", "json"]),
    ("params", &["yaml", "yml", "json"]),
    // Hugging Face and many scripts.
    ("args", &["json"]),
];

impl ConfigFormat {
    /// Format by the path of a file relative to the folder of its run; `None` if it is not a configuration file.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = match path.strip_prefix(".hydra/") {
            Some("config.yaml") => return Some(Self::Yaml),
            Some(_) => return None,
            None => path,
        };
        let (stem, ending) = name.rsplit_once('.')?;
        let (_, endings) = NAMES.iter().find(|(known, _)| *known == stem)?;
        match *endings.iter().find(|known| **known == ending)? {
            "json" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            _ => Some(Self::Yaml),
        }
    }

    /// Paths of configuration files below the folder of a run.
    pub fn paths() -> impl Iterator<Item = (String, Self)> {
        let names = NAMES.iter().flat_map(|(stem, endings)| {
            endings.iter().map(move |ending| format!("{stem}.{ending}"))
        });
        let paths = names.chain([".hydra/config.yaml".to_owned()]);
        paths.filter_map(|path| Self::of_path(&path).map(|format| (path, format)))
    }
}

/// Values of a configuration file in its order; names of nested ones are joined with dots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaves {
    /// Names and values.
    pub values: Vec<(String, HparamValue)>,
    /// Number of values that were left out: too many, or too deep.
    pub left_out: usize,
}

/// A configuration file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ConfigError {
    /// Description with line and column.
    pub reason: String,
}

/// Reads a configuration file.
///
/// # Errors
///
/// If it is not UTF-8, not valid in its notation, or nested too deeply for the parser; the error has line and column.
pub fn leaves(bytes: &[u8], format: ConfigFormat) -> Result<Leaves, ConfigError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ConfigError {
        reason: format!("byte {} is not UTF-8", error.valid_up_to()),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut leaves = Leaves::default();
    let place = Place {
        leaves: &mut leaves,
        name: String::new(),
        depth: 0,
    };
    let result = match format {
        ConfigFormat::Json => {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            place
                .deserialize(&mut deserializer)
                .and_then(|()| deserializer.end())
                .map_err(|error| error.to_string())
        }
        ConfigFormat::Toml => toml::Deserializer::parse(text)
            .and_then(|deserializer| place.deserialize(deserializer))
            .map_err(|error| toml_error(text, &error)),
        ConfigFormat::Yaml if text.trim().is_empty() => Ok(()),
        ConfigFormat::Yaml => {
            let options = serde_saphyr::options! {
                budget: serde_saphyr::budget! { max_nodes: MAX_NODES },
                with_snippet: false,
                // A learning rate that is infinite is a finding.
                non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::PassThrough,
            };
            serde_saphyr::with_deserializer_from_str_with_options(text, options, |deserializer| {
                place.deserialize(deserializer)
            })
            .map_err(|error| error.to_string())
        }
    };
    result
        .map(|()| leaves)
        .map_err(|reason| ConfigError { reason })
}

/// Reason of an error with its line and column.
fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let Some(span) = error.span() else {
        return error.message().to_owned();
    };
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .chars()
        .rev()
        .take_while(|char| *char != '\n')
        .count()
        + 1;
    format!("{} at line {line} column {column}", error.message())
}

/// A value with its name.
struct Place<'a> {
    leaves: &'a mut Leaves,
    name: String,
    depth: usize,
}

impl Place<'_> {
    fn put(self, value: HparamValue) {
        if self.leaves.values.len() < MAX_LEAVES && self.depth <= MAX_DEPTH {
            // Without a name, the file is a single value, which is not a setting.
            if !self.name.is_empty() {
                self.leaves.values.push((self.name, value));
            }
        } else {
            self.leaves.left_out += 1;
        }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.put(HparamValue::Bool(value));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(HparamValue::Number(value as f64));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.put(HparamValue::Number(value as f64));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.put(HparamValue::Number(value));
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.put(HparamValue::Text(value.to_owned()));
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put(HparamValue::Null);
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(key)) = map.next_key_seed(NameSeed)? {
            let name = if self.name.is_empty() {
                key
            } else {
                format!("{}.{key}", self.name)
            };
            let depth = self.depth + 1;
            map.next_value_seed(Place {
                leaves: &mut *self.leaves,
                name,
                depth,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut element = Leaves::default();
        let mut texts = Vec::new();
        let (mut len, mut is_flat) = (0_usize, true);
        loop {
            element.values.clear();
            element.left_out = 0;
            let name = "element".to_owned();
            let Some(()) = list.next_element_seed(Place {
                leaves: &mut element,
                name,
                depth: 0,
            })?
            else {
                break;
            };
            len += 1;
            match element.values.as_slice() {
                [(name, value)] if name == "element" => {
                    texts.extend((len <= MAX_LIST).then(|| text(value)));
                }
                _ => is_flat = false,
            }
        }
        let value = if is_flat && len <= MAX_LIST {
            format!("[{}]", texts.join(", "))
        } else {
            format!("[{len} elements]")
        };
        self.put(HparamValue::Text(value));
        Ok(())
    }
}

fn text(value: &HparamValue) -> String {
    match value {
        HparamValue::Null => "null".to_owned(),
        HparamValue::Number(number) => number.to_string(),
        HparamValue::Text(text) => text.clone(),
        HparamValue::Bool(yes) => yes.to_string(),
    }
}

/// A key of a map as text.
struct Name(String);

struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        let mut leaves = Leaves::default();
        let place = Place {
            leaves: &mut leaves,
            name: "key".to_owned(),
            depth: 0,
        };
        // Keys of JSON and TOML are texts; those of YAML may be anything.
        deserializer.deserialize_any(place)?;
        let value = leaves.values.first().map(|(_, value)| text(value));
        Ok(Name(value.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> HparamValue {
        HparamValue::Number(value)
    }

    fn values(text: &str, format: ConfigFormat) -> Vec<(String, HparamValue)> {
        leaves(text.as_bytes(), format).unwrap().values
    }

    #[test]
    fn three_notations_of_one_configuration_are_equal() {
        let json = r#"{"lr": 0.001, "model": {"layers": 3, "norm": true, "name": "mlp"}, "seed": null, "betas": [0.9, 0.999]}"#;
        let yaml = "lr: 1e-3\nmodel:\n  layers: 3\n  norm: true\n  name: mlp\nseed: null\nbetas: [0.9, 0.999]\n";
        let toml =
            "lr = 1e-3\nbetas = [0.9, 0.999]\n[model]\nlayers = 3\nnorm = true\nname = \"mlp\"\n";
        let expected = [
            ("betas", HparamValue::Text("[0.9, 0.999]".to_owned())),
            ("lr", number(0.001)),
            ("model.layers", number(3.0)),
            ("model.name", HparamValue::Text("mlp".to_owned())),
            ("model.norm", HparamValue::Bool(true)),
            ("seed", HparamValue::Null),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        for (text, format) in [(json, ConfigFormat::Json), (yaml, ConfigFormat::Yaml)] {
            let mut found = values(text, format);
            found.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(found, expected, "{format:?}");
        }
        let mut found = values(toml, ConfigFormat::Toml);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, expected[..5], "TOML has no null");
    }

    #[test]
    fn texts_of_yaml_stay_texts() {
        let found = values(
            "a: '1e-3'\nb: auto\nc: .nan\nd: .inf\n5: x\n",
            ConfigFormat::Yaml,
        );
        assert_eq!(found[0].1, HparamValue::Text("1e-3".to_owned()));
        assert_eq!(found[1].1, HparamValue::Text("auto".to_owned()));
        assert!(
            matches!(found[2].1, HparamValue::Number(value) if value.is_nan()),
            "{found:?}"
        );
        assert_eq!(found[3].1, number(f64::INFINITY));
        assert_eq!(found[4].0, "5");
    }

    #[test]
    fn a_long_list_is_its_length_and_a_nested_one_too() {
        let found = values(
            r#"{"a": [1,2,3,4,5,6,7,8,9], "b": [{"c": 1}]}"#,
            ConfigFormat::Json,
        );
        assert_eq!(found[0].1, HparamValue::Text("[9 elements]".to_owned()));
        assert_eq!(found[1].1, HparamValue::Text("[1 elements]".to_owned()));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, format) in [
            ("{\"a\": 1,\n \"b\": }", ConfigFormat::Json),
            ("a = 1\nb = = 2\n", ConfigFormat::Toml),
            ("a: 1\nb: [1, 2\n", ConfigFormat::Yaml),
        ] {
            let error = leaves(text.as_bytes(), format).unwrap_err().to_string();
            assert!(
                error.contains("line") && error.contains("column"),
                "{format:?}: {error}"
            );
        }
    }

    #[test]
    fn hostile_files_end_in_an_error_or_in_limits() {
        let mut bomb = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned()];
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            bomb.push(format!("a{level}: &a{level} [{}]", [&*alias; 9].join(", ")));
        }
        assert!(leaves(bomb.join("\n").as_bytes(), ConfigFormat::Yaml).is_err());
        let deep = "[".repeat(100_000);
        for format in [ConfigFormat::Json, ConfigFormat::Yaml, ConfigFormat::Toml] {
            assert!(leaves(deep.as_bytes(), format).is_err());
            assert!(leaves(b"\xff", format).is_err());
        }
        let many: Vec<String> = (0..2_000)
            .map(|index| format!("\"k{index}\": {index}"))
            .collect();
        let many = leaves(
            format!("{{{}}}", many.join(",")).as_bytes(),
            ConfigFormat::Json,
        )
        .unwrap();
        assert_eq!((many.values.len(), many.left_out), (MAX_LEAVES, 1_000));
        let deep = format!("{}1{}", "{\"a\":".repeat(9), "}".repeat(9));
        let deep = leaves(deep.as_bytes(), ConfigFormat::Json).unwrap();
        assert_eq!((deep.values.len(), deep.left_out), (0, 1));
    }

    #[test]
    fn only_known_names_are_configuration_files() {
        assert_eq!(
            ConfigFormat::of_path("config.toml"),
            Some(ConfigFormat::Toml)
        );
        assert_eq!(
            ConfigFormat::of_path(".hydra/config.yaml"),
            Some(ConfigFormat::Yaml)
        );
        assert_eq!(ConfigFormat::of_path("hparams.toml"), None);
        assert_eq!(ConfigFormat::of_path("RUN.toml"), None);
        assert_eq!(ConfigFormat::paths().count(), 12);
    }
}
