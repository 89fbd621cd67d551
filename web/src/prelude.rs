//! What most files begin with: the framework's words, its signals in the form of [`crate::reactive`].

pub(crate) use leptos::prelude::*;

pub(crate) use crate::reactive::{LocalValue, Memo, RwSignal, Signal, StoredValue};
