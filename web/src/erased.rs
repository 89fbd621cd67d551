//! What the framework would compile anew for each closure, made once: the closure is called through a pointer, and the
//! bundle is smaller by a tenth.
//!
//! Each box goes to a function that does not know what is in it: a closure written in a generic function is of another
//! type for each of its parameters, and so is all that is made of it.

use leptos::children::ViewFn;

use crate::prelude::*;

/// Something that runs now and whenever what it has read changes.
pub fn effect(run: impl FnMut() + 'static) {
    boxed_effect(Box::new(run));
}

fn boxed_effect(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_: Option<()>| run());
}

/// A value that is computed again when what it was computed from changes, and whose readers only hear of it when it
/// differs.
pub fn memo<T>(compute: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    boxed_memo(Box::new(compute))
}

fn boxed_memo<T>(compute: Box<dyn Fn() -> T + Send + Sync>) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| compute())
}

/// A value that is computed each time it is read.
pub fn derive<T>(compute: impl Fn() -> T + Send + Sync + 'static) -> Signal<T>
where
    T: Send + Sync + 'static,
{
    let compute: Box<dyn Fn() -> T + Send + Sync> = Box::new(compute);
    Signal::derive(compute)
}

/// What an event does.
pub fn handler<E: 'static>(act: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(act)
}

/// Content that is there while something holds.
#[component(transparent)]
pub fn Show(
    /// What has to hold.
    #[prop(into)]
    when: Callback<(), bool>,
    /// What is there instead otherwise.
    #[prop(optional, into)]
    fallback: ViewFn,
    /// The content.
    children: ChildrenFn,
) -> impl IntoView {
    let holds = memo(move || when.run(()));
    move || {
        if holds.get() {
            children()
        } else {
            fallback.run()
        }
    }
}
