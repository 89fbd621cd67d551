//! Memory, ranks, other profiles and SQL: views in a separate file of code, fetched with the first of them.

use leptos::wasm_split::{SplitLoaderError, wasm_split};

use super::cluster::Cluster;
use super::compare::Compare;
use super::memory::MemoryView;
use super::sql::Sql;
use trainscope_web_kit::parameters::ProfileView;
use trainscope_web_kit::prelude::*;

/// The view, after its code was fetched; an error if that failed.
#[wasm_split(profile_more, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn more(view: ProfileView) -> Result<AnyView, SplitLoaderError> {
    Ok(match view {
        ProfileView::Memory => view! { <MemoryView /> }.into_any(),
        ProfileView::Cluster => view! { <Cluster /> }.into_any(),
        ProfileView::Sql => view! { <Sql /> }.into_any(),
        _ => view! { <Compare /> }.into_any(),
    })
}
