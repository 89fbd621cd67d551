//! Validation of the indices in a trace: stored traces may be damaged.

use super::{NONE, SliceClass, Slices, Trace};

impl Slices {
    fn is_even(&self) -> bool {
        let lens = [
            self.durations.len(),
            self.names.len(),
            self.lanes.len(),
            self.categories.len(),
            self.links.len(),
            self.details.len(),
            self.places.len(),
        ];
        lens.iter().all(|len| *len == self.len())
    }
}

impl Trace {
    /// `true` if columns are equally long and every index is valid, as in every trace of a reader.
    pub fn is_sound(&self) -> bool {
        let slices = &self.slices;
        let is_slice = |slice: u32| slice == NONE || (slice as usize) < slices.len();
        let is_text = |text: super::TextId| (text.0 as usize) < self.texts.len();
        let is_lane = |lane: &u16| usize::from(*lane) < self.lanes.len();
        let is_detail = |(detail, category): (&u32, &u16)| {
            let class = self.categories.get(usize::from(*category));
            let details = match class.map(|entry| entry.class) {
                Some(SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset) => {
                    self.device_work.len()
                }
                _ => self.shapes.len().max(self.device_work.len()),
            };
            *detail == NONE || (*detail as usize) < details
        };
        slices.is_even()
            && u32::try_from(slices.len()).is_ok_and(|len| len < NONE)
            && slices.names.iter().all(|name| is_text(*name))
            && slices.lanes.iter().all(is_lane)
            && (slices.categories.iter())
                .all(|category| usize::from(*category) < self.categories.len())
            && slices.details.iter().zip(&slices.categories).all(is_detail)
            && (self.flows.iter())
                .all(|flow| is_slice(flow.from) && is_slice(flow.to) && is_text(flow.category))
            && (self.counters.iter()).all(|counter| counter.times.len() == counter.values.len())
            && (self.memory.iter()).all(|event| is_lane(&event.lane))
            && self.stacks.is_sound(self.texts.len())
            && (self.marks.iter()).all(|mark| is_text(mark.name) && is_lane(&mark.lane))
            && (self.device_work.iter().filter_map(|work| work.group)).all(is_text)
            && self.counts.unfinished.iter().all(|slice| is_slice(*slice))
    }
}
