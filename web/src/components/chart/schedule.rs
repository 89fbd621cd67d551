//! When charts are drawn: with the browser's frames, a few at a time, each at most once a frame.
//!
//! A hundred charts that change together are drawn over as many frames as it takes, so that scrolling and pointing
//! never wait for them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use leptos::prelude::request_animation_frame;

/// Charts drawn in one frame.
const EACH_FRAME: usize = 4;

type Job = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<VecDeque<(Ticket, Job)>> = const { RefCell::new(VecDeque::new()) };
    static LAST_TICKET: Cell<u64> = const { Cell::new(0) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// One chart's place in the schedule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::components) struct Ticket(u64);

impl Ticket {
    /// A place that nobody else has.
    pub(in crate::components) fn new() -> Self {
        let number = LAST_TICKET.get() + 1;
        LAST_TICKET.set(number);
        Self(number)
    }

    /// Draws in one of the next frames; takes the place of what this chart asked for before.
    pub(in crate::components) fn ask(self, job: impl FnOnce() + 'static) {
        let job: Job = Box::new(job);
        WAITING.with_borrow_mut(|waiting| {
            match waiting.iter_mut().find(|(ticket, _)| *ticket == self) {
                Some((_, old)) => *old = job,
                None => waiting.push_back((self, job)),
            }
        });
        if !IS_RUNNING.replace(true) {
            request_animation_frame(frame);
        }
    }

    /// The chart is gone.
    pub(in crate::components) fn give_up(self) {
        WAITING.with_borrow_mut(|waiting| waiting.retain(|(ticket, _)| *ticket != self));
    }
}

fn frame() {
    for _ in 0..EACH_FRAME {
        // Taken out before it runs: a job may ask for another one.
        let next = WAITING.with_borrow_mut(VecDeque::pop_front);
        match next {
            Some((_, job)) => job(),
            None => break,
        }
    }
    if WAITING.with_borrow(VecDeque::is_empty) {
        IS_RUNNING.set(false);
    } else {
        request_animation_frame(frame);
    }
}
