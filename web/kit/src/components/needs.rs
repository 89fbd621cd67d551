//! Controls for those whom the server lets change something.

use trainscope_api::status::AccessRole;

use crate::prelude::*;
use crate::state::use_app_state;

/// Its content, if the person in front of the page has a role. The server decides about each change itself.
#[component]
pub fn Needs(role: AccessRole, children: ChildrenFn) -> impl IntoView {
    let may = use_may(role);
    view! { <Show when=move || may.get()>{children()}</Show> }
}

/// `true` if the person in front of the page has a role in some run; before the first answer of the server, too.
pub fn use_may(role: AccessRole) -> Memo<bool> {
    let state = use_app_state();
    Memo::new(move |_| {
        let may = state
            .status
            .with(|status| status.as_ref().map(|status| status.may));
        may.is_none_or(|may| may >= role)
    })
}
