//! Signals that the framework is compiled for once. What they hold lies behind a pointer, and only those who read it know
//! its type; the framework would compile functions of its own for each type of value, and a browser compile those anew
//! when they are first called, at each visit of the page.
//!
//! They do what the framework's signals of the same names do. Handles are `Copy`, and what they hold goes with the owner
//! that they were made under: `try_` functions return `None` then.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError, RwLock};

use leptos::prelude as framework;
use leptos::prelude::{Get as _, GetUntracked as _, GetValue as _, Notify as _, Track as _};

/// A value of a type that its reader knows.
type Held = Arc<dyn Any + Send + Sync>;
type Computed = dyn Fn() -> Held + Send + Sync;
/// From the value before, the next one and whether it differs.
type Next = dyn Fn(Option<Held>) -> (Held, bool) + Send + Sync;

/// From the value before, the next one.
type After<T> = dyn Fn(Option<&T>) -> T + Send + Sync;

/// The value behind a pointer; a handle is only made with a value of its own type.
fn known<T: 'static>(held: &Held) -> &T {
    match held.downcast_ref() {
        Some(value) => value,
        None => unreachable!("a handle knows the type of what it was made with"),
    }
}

/// A value that changes in its place.
struct Place<T>(RwLock<T>);

impl<T> Place<T> {
    fn held(value: T) -> Held
    where
        T: Send + Sync + 'static,
    {
        Arc::new(Self(RwLock::new(value)))
    }

    fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was there goes when the place can be looked at again.
    fn replace(&self, value: T) {
        drop(self.change(|now| std::mem::replace(now, value)));
    }
}

macro_rules! copied {
    ($($handle:ident),*) => {$(
        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $handle<T> {}
    )*};
}

copied!(Memo, RwSignal, Signal, StoredValue);

/// Copies of the value, where it can be looked at.
macro_rules! read {
    ($($handle:ident),*) => {$(
        impl<T: Clone + Send + Sync + 'static> $handle<T> {
            /// The value; reactive.
            pub fn get(self) -> T {
                self.with(T::clone)
            }

            /// The value.
            pub fn get_untracked(self) -> T {
                self.with_untracked(T::clone)
            }
        }
    )*};
}

/// The same where it may be gone.
macro_rules! try_read {
    ($($handle:ident),*) => {$(
        impl<T: Clone + Send + Sync + 'static> $handle<T> {
            /// The value, if it is there.
            pub fn try_get_untracked(self) -> Option<T> {
                self.try_with_untracked(T::clone)
            }
        }
    )*};
}

read!(Memo, RwSignal, Signal);
try_read!(Memo, RwSignal);

/// A value that can be set, and whose readers hear of it.
pub struct RwSignal<T>(framework::RwSignal<Held>, PhantomData<fn() -> T>);

fn new_signal(held: Held) -> framework::RwSignal<Held> {
    framework::RwSignal::new(held)
}

fn track(signal: framework::RwSignal<Held>) {
    signal.track();
}

fn notify(signal: framework::RwSignal<Held>) {
    signal.notify();
}

fn place_of(signal: framework::RwSignal<Held>) -> Held {
    signal.get_untracked()
}

fn try_place_of(signal: framework::RwSignal<Held>) -> Option<Held> {
    signal.try_get_untracked()
}

impl<T: Send + Sync + 'static> RwSignal<T> {
    /// A signal of a value.
    pub fn new(value: T) -> Self {
        Self(new_signal(Place::held(value)), PhantomData)
    }

    /// Looks at the value; reactive.
    pub fn with<R>(self, look: impl FnOnce(&T) -> R) -> R {
        track(self.0);
        self.with_untracked(look)
    }

    /// Looks at the value.
    pub fn with_untracked<R>(self, look: impl FnOnce(&T) -> R) -> R {
        known::<Place<T>>(&place_of(self.0)).look(look)
    }

    /// Looks at the value, if it is there.
    pub fn try_with_untracked<R>(self, look: impl FnOnce(&T) -> R) -> Option<R> {
        Some(known::<Place<T>>(&try_place_of(self.0)?).look(look))
    }

    /// Sets the value, unless the signal is no more.
    pub fn set(self, value: T) {
        drop(self.try_set(value));
    }

    /// Sets the value, or gives it back if the signal is no more.
    pub fn try_set(self, value: T) -> Option<T> {
        let Some(place) = try_place_of(self.0) else {
            return Some(value);
        };
        known::<Place<T>>(&place).replace(value);
        notify(self.0);
        None
    }

    /// Changes the value in its place, unless the signal is no more.
    pub fn update(self, change: impl FnOnce(&mut T)) {
        let _gone = self.try_update(change);
    }

    /// Changes the value in its place, if it is there.
    pub fn try_update<R>(self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let changed = known::<Place<T>>(&try_place_of(self.0)?).change(change);
        notify(self.0);
        Some(changed)
    }

    /// Changes the value in its place, unless the signal is no more; readers hear of it if it has become another one, as
    /// the answer says.
    pub fn maybe_update(self, change: impl FnOnce(&mut T) -> bool) {
        let place = try_place_of(self.0);
        if place.is_some_and(|place| known::<Place<T>>(&place).change(change)) {
            notify(self.0);
        }
    }

    /// Hears of the next value.
    pub fn track(self) {
        track(self.0);
    }
}

/// A value that is computed again when what it was computed from changes, and whose readers only hear of it when it
/// differs.
pub struct Memo<T>(framework::Memo<Held>, PhantomData<fn() -> T>);

fn new_memo(next: Box<Next>) -> framework::Memo<Held> {
    framework::Memo::new_owning(next)
}

fn computed(memo: framework::Memo<Held>) -> Held {
    memo.get()
}

fn computed_untracked(memo: framework::Memo<Held>) -> Held {
    memo.get_untracked()
}

fn try_computed_untracked(memo: framework::Memo<Held>) -> Option<Held> {
    memo.try_get_untracked()
}

impl<T: Send + Sync + 'static> Memo<T> {
    /// A value that may depend on the one before.
    pub fn new(compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self
    where
        T: PartialEq,
    {
        Self::new_with_compare(compute, |before, now| before != now)
    }

    /// The same where `differs` says what its readers hear of.
    pub fn new_with_compare(
        compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static,
        differs: fn(Option<&T>, Option<&T>) -> bool,
    ) -> Self {
        Self::boxed(Box::new(compute), differs)
    }

    fn boxed(compute: Box<After<T>>, differs: fn(Option<&T>, Option<&T>) -> bool) -> Self {
        let next = move |before: Option<Held>| {
            let before = before.as_ref().map(known::<T>);
            let now = compute(before);
            let is_other = differs(before, Some(&now));
            (Arc::new(now) as Held, is_other)
        };
        Self(new_memo(Box::new(next)), PhantomData)
    }

    /// Looks at the value; reactive.
    pub fn with<R>(self, look: impl FnOnce(&T) -> R) -> R {
        look(known(&computed(self.0)))
    }

    /// Looks at the value.
    pub fn with_untracked<R>(self, look: impl FnOnce(&T) -> R) -> R {
        look(known(&computed_untracked(self.0)))
    }

    /// Looks at the value, if it is there.
    pub fn try_with_untracked<R>(self, look: impl FnOnce(&T) -> R) -> Option<R> {
        Some(look(known(&try_computed_untracked(self.0)?)))
    }

    /// Hears of the next value.
    pub fn track(self) {
        self.0.track();
    }
}

/// A value that can be read, wherever it comes from.
pub struct Signal<T>(Source, PhantomData<fn() -> T>);

#[derive(Clone, Copy, PartialEq)]
enum Source {
    Place(framework::RwSignal<Held>),
    Memo(framework::Memo<Held>),
    Derived(framework::StoredValue<Arc<Computed>>),
}

fn derived(compute: Arc<Computed>) -> Source {
    Source::Derived(framework::StoredValue::new(compute))
}

impl Source {
    fn track(self) {
        match self {
            Self::Place(place) => track(place),
            Self::Memo(memo) => memo.track(),
            Self::Derived(compute) => drop(compute.get_value()()),
        }
    }

    /// A place, or a value that was computed; reactive if it is.
    fn held(self, is_tracked: bool) -> Held {
        match (self, is_tracked) {
            (Self::Place(place), true) => {
                track(place);
                place_of(place)
            }
            (Self::Place(place), false) => place_of(place),
            (Self::Memo(memo), true) => computed(memo),
            (Self::Memo(memo), false) => computed_untracked(memo),
            (Self::Derived(compute), true) => compute.get_value()(),
            (Self::Derived(compute), false) => framework::untrack(|| compute.get_value()()),
        }
    }
}

impl<T: Send + Sync + 'static> Signal<T> {
    /// A value that is computed each time it is read.
    pub fn derive(compute: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(
            derived(Arc::new(move || Arc::new(compute()) as Held)),
            PhantomData,
        )
    }

    /// A value that never changes.
    pub fn stored(value: T) -> Self {
        RwSignal::new(value).into()
    }

    fn look<R>(self, is_tracked: bool, look: impl FnOnce(&T) -> R) -> R {
        let held = self.0.held(is_tracked);
        match self.0 {
            Source::Place(_) => known::<Place<T>>(&held).look(look),
            Source::Memo(_) | Source::Derived(_) => look(known(&held)),
        }
    }

    /// Looks at the value; reactive.
    pub fn with<R>(self, look: impl FnOnce(&T) -> R) -> R {
        self.look(true, look)
    }

    /// Looks at the value.
    pub fn with_untracked<R>(self, look: impl FnOnce(&T) -> R) -> R {
        self.look(false, look)
    }

    /// Hears of the next value.
    pub fn track(self) {
        self.0.track();
    }
}

impl<T> From<RwSignal<T>> for Signal<T> {
    fn from(signal: RwSignal<T>) -> Self {
        Self(Source::Place(signal.0), PhantomData)
    }
}

impl<T> From<Memo<T>> for Signal<T> {
    fn from(memo: Memo<T>) -> Self {
        Self(Source::Memo(memo.0), PhantomData)
    }
}

impl<T: Send + Sync + 'static> From<T> for Signal<T> {
    fn from(value: T) -> Self {
        Self::stored(value)
    }
}

impl<T: Clone + Send + Sync + 'static> From<framework::ArcRwSignal<T>> for Signal<T> {
    fn from(signal: framework::ArcRwSignal<T>) -> Self {
        Self::derive(move || signal.get())
    }
}

impl<T: Default + Send + Sync + 'static> Default for Signal<T> {
    fn default() -> Self {
        Self::stored(T::default())
    }
}

/// Whether it is the same signal.
impl<T> PartialEq for Signal<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl From<&str> for Signal<String> {
    fn from(value: &str) -> Self {
        Self::stored(value.to_owned())
    }
}

/// A value of the browser that is kept; it cannot be behind a pointer that might be sent.
pub type LocalValue<T> = framework::StoredValue<T, framework::LocalStorage>;

/// A value that is kept and that nobody hears of.
pub struct StoredValue<T>(framework::StoredValue<Held>, PhantomData<fn() -> T>);

fn new_stored(held: Held) -> framework::StoredValue<Held> {
    framework::StoredValue::new(held)
}

fn stored(value: framework::StoredValue<Held>) -> Held {
    value.get_value()
}

fn try_stored(value: framework::StoredValue<Held>) -> Option<Held> {
    value.try_get_value()
}

impl<T: Send + Sync + 'static> StoredValue<T> {
    /// Keeps a value.
    pub fn new(value: T) -> Self {
        Self(new_stored(Place::held(value)), PhantomData)
    }

    /// Looks at the value.
    pub fn with_value<R>(self, look: impl FnOnce(&T) -> R) -> R {
        known::<Place<T>>(&stored(self.0)).look(look)
    }

    /// The value.
    pub fn get_value(self) -> T
    where
        T: Clone,
    {
        self.with_value(T::clone)
    }

    /// The value, if it is there.
    pub fn try_get_value(self) -> Option<T>
    where
        T: Clone,
    {
        Some(known::<Place<T>>(&try_stored(self.0)?).look(T::clone))
    }

    /// Sets the value, unless it is kept no more.
    pub fn set_value(self, value: T) {
        drop(self.try_set_value(value));
    }

    /// Sets the value, or gives it back if it is kept no more.
    pub fn try_set_value(self, value: T) -> Option<T> {
        let Some(place) = try_stored(self.0) else {
            return Some(value);
        };
        known::<Place<T>>(&place).replace(value);
        None
    }

    /// Changes the value in its place, unless it is kept no more.
    pub fn update_value(self, change: impl FnOnce(&mut T)) {
        let _gone = self.try_update_value(change);
    }

    /// Changes the value in its place, if it is there.
    pub fn try_update_value<R>(self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        Some(known::<Place<T>>(&try_stored(self.0)?).change(change))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use leptos::prelude::Owner;

    use super::*;

    #[test]
    fn values_are_read_set_and_changed() {
        let owner = Owner::new();
        owner.set();
        let (signal, kept) = (RwSignal::new(vec![1]), StoredValue::new("a".to_owned()));
        signal.update(|list| list.push(2));
        assert_eq!(signal.try_update(|list| list.len()), Some(2));
        kept.update_value(|text| text.push('b'));
        assert_eq!(
            (signal.get_untracked(), kept.get_value()),
            (vec![1, 2], "ab".to_owned())
        );
        let read: Signal<Vec<i32>> = signal.into();
        signal.set(vec![3]);
        assert_eq!(read.get(), [3]);
        assert_eq!(Signal::from(5_u8).get(), 5);
        let first = Signal::derive(move || read.with(|list| list[0]));
        assert_eq!(first.get_untracked(), 3);
    }

    #[test]
    fn what_is_computed_is_computed_again_when_it_has_to_be() {
        let owner = Owner::new();
        owner.set();
        let number = RwSignal::new(1);
        let is_odd = Memo::new(move |_| number.get() % 2 == 1);
        let times = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&times);
        let word = Memo::new(move |before: Option<&String>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let before = before.map_or(0, String::len);
            format!("{}{before}", is_odd.get())
        });
        assert_eq!(word.get(), "true0");
        number.set(3);
        assert_eq!(
            (word.get(), times.load(Ordering::Relaxed)),
            ("true0".to_owned(), 1)
        );
        number.set(4);
        assert_eq!(word.get(), "false5");
        let read: Signal<String> = word.into();
        assert_eq!(read.get(), "false5");
    }

    #[test]
    fn what_is_gone_is_none() {
        let owner = Owner::new();
        owner.set();
        let (signal, kept) = (RwSignal::new(1), StoredValue::new(2));
        let memo = Memo::new(move |_| signal.get());
        owner.cleanup();
        assert_eq!(
            (signal.try_get_untracked(), memo.try_get_untracked()),
            (None, None)
        );
        assert_eq!((signal.try_set(7), kept.try_get_value()), (Some(7), None));
        assert_eq!(
            (kept.try_set_value(8), kept.try_update_value(|now| *now)),
            (Some(8), None)
        );
        // Nothing to be afraid of.
        signal.set(9);
        signal.update(|now| *now += 1);
        kept.set_value(9);
    }
}
