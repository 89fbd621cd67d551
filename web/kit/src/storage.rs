//! Persistent settings of this browser: small texts in `localStorage`. If it is disabled, reads return nothing and
//! writes do nothing.

const PREFIX: &str = "trainscope.";

/// The remembered text of `key`, if there is one.
pub fn read(key: &str) -> Option<String> {
    local_storage()?
        .get_item(&format!("{PREFIX}{key}"))
        .ok()
        .flatten()
}

/// Remembers `value` for `key`; `None` forgets it.
pub fn write(key: &str, value: Option<&str>) {
    let Some(storage) = local_storage() else {
        return;
    };
    let key = format!("{PREFIX}{key}");
    // A full or forbidden storage only means that the choice is not remembered.
    let _ignored = match value {
        Some(value) => storage.set_item(&key, value),
        None => storage.remove_item(&key),
    };
}

fn local_storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}
