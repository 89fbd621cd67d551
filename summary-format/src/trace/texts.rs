//! Texts that are stored once: the names of millions of slices are a few hundred.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Number of a text in [`Texts`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TextId(pub u32);

/// Texts by number, each once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Arc<str>>", into = "Vec<Arc<str>>")]
pub struct Texts {
    texts: Vec<Arc<str>>,
    // Names come from untrusted files: seeded against crafted collisions.
    ids: HashMap<Arc<str>, TextId, foldhash::fast::RandomState>,
}

impl Texts {
    /// Number of a text, added if missing.
    pub fn intern(&mut self, text: &str) -> TextId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = TextId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// Number of a text; `None` if it is missing.
    pub fn find(&self, text: &str) -> Option<TextId> {
        self.ids.get(text).copied()
    }

    /// Text of a number; empty for an unknown number.
    pub fn get(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// `true` without texts.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl From<Vec<Arc<str>>> for Texts {
    fn from(texts: Vec<Arc<str>>) -> Self {
        let mut ids = HashMap::default();
        for (index, text) in (0..).zip(&texts) {
            ids.entry(text.clone()).or_insert(TextId(index));
        }
        Self { texts, ids }
    }
}

impl From<Texts> for Vec<Arc<str>> {
    fn from(texts: Texts) -> Self {
        texts.texts
    }
}
