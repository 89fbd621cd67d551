//! Persistent settings of this browser: small texts in `localStorage`. If it is disabled, reads return nothing and
//! writes do nothing.

const PREFIX: &str = "trainscope.";

/// The stored text of `key`, if any.
pub fn read(key: &str) -> Option<String> {
    local_storage()?
        .get_item(&format!("{PREFIX}{key}"))
        .ok()
        .flatten()
}

/// Stores `value` for `key`; `None` removes it.
pub fn write(key: &str, value: Option<&str>) {
    let Some(storage) = local_storage() else {
        return;
    };
    let key = format!("{PREFIX}{key}");
    // A full or forbidden storage only means that the choice is not stored.
    let _ignored = match value {
        Some(value) => storage.set_item(&key, value),
        None => storage.remove_item(&key),
    };
}

fn local_storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}
