//! Fields of one event, and those of its arguments that become columns.

use super::cursor::{Cursor, Stop};

/// An event as the file has it; fields that it does not have are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) phase: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) category: &'a [u8],
    pub(super) process: &'a [u8],
    pub(super) thread: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) duration: &'a [u8],
    pub(super) id: &'a [u8],
    /// An object with `local` or `global`.
    pub(super) second_id: &'a [u8],
    /// Scope of an instant.
    pub(super) scope: &'a [u8],
    /// `e`: a flow ends in the slice around it.
    pub(super) binding: &'a [u8],
    pub(super) bind_id: &'a [u8],
    pub(super) flow_in: &'a [u8],
    pub(super) flow_out: &'a [u8],
    /// Depth of a scope of MindSpore 2.0.
    pub(super) scope_level: &'a [u8],
    /// All arguments.
    pub(super) arguments: &'a [u8],
    pub(super) wanted: Arguments<'a>,
}

/// Arguments that become columns; empty without one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) correlation: &'a [u8],
    /// Size of an allocation, negative for a release.
    pub(super) allocated_here: &'a [u8],
    pub(super) address: &'a [u8],
    pub(super) total_allocated: &'a [u8],
    pub(super) total_reserved: &'a [u8],
    pub(super) device_type: &'a [u8],
    pub(super) device_id: &'a [u8],
    pub(super) device: &'a [u8],
    /// Size of a copy or fill.
    pub(super) bytes: &'a [u8],
    pub(super) blocks: &'a [u8],
    pub(super) occupancy: &'a [u8],
    pub(super) sequence: &'a [u8],
    pub(super) group: &'a [u8],
    pub(super) group_size: &'a [u8],
    pub(super) elements_in: &'a [u8],
    pub(super) elements_out: &'a [u8],
    pub(super) element_type: &'a [u8],
    pub(super) dims: &'a [u8],
    pub(super) types: &'a [u8],
    pub(super) concrete: &'a [u8],
}

impl<'a> Event<'a> {
    /// `true` if it has no field that is read.
    pub(super) fn is_empty(&self) -> bool {
        let fields = [self.phase, self.name, self.category, self.time];
        fields.iter().all(|field| field.is_empty())
    }

    /// Reads the event that begins at the cursor's brace.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Stop> {
        let mut event = Self::default();
        cursor.expect(b'{')?;
        if cursor.peek()? == b'}' {
            cursor.at += 1;
            return Ok(event);
        }
        loop {
            let key = cursor.key()?;
            if key == b"args" && cursor.peek()? == b'{' {
                let from = cursor.at;
                event.wanted = Arguments::read(cursor)?;
                event.arguments = cursor.bytes.get(from..cursor.at).unwrap_or_default();
            } else {
                let value = cursor.value()?.raw();
                match key {
                    b"ph" => event.phase = value,
                    b"name" => event.name = value,
                    b"cat" => event.category = value,
                    b"pid" => event.process = value,
                    b"tid" => event.thread = value,
                    b"ts" => event.time = value,
                    b"dur" => event.duration = value,
                    b"id" => event.id = value,
                    b"id2" => event.second_id = value,
                    b"s" => event.scope = value,
                    b"bp" => event.binding = value,
                    b"bind_id" => event.bind_id = value,
                    b"flow_in" => event.flow_in = value,
                    b"flow_out" => event.flow_out = value,
                    b"scope_level" => event.scope_level = value,
                    _ => {}
                }
            }
            if !cursor.goes_on(b'}')? {
                return Ok(event);
            }
        }
    }
}

impl<'a> Arguments<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Stop> {
        let mut wanted = Self::default();
        cursor.expect(b'{')?;
        if cursor.peek()? == b'}' {
            cursor.at += 1;
            return Ok(wanted);
        }
        loop {
            let key = cursor.key()?;
            let value = cursor.value()?.raw();
            match key {
                b"correlation" => wanted.correlation = value,
                b"Bytes" => wanted.allocated_here = value,
                b"Addr" => wanted.address = value,
                b"Total Allocated" => wanted.total_allocated = value,
                b"Total Reserved" => wanted.total_reserved = value,
                b"Device Type" => wanted.device_type = value,
                b"Device Id" => wanted.device_id = value,
                b"device" => wanted.device = value,
                b"bytes" => wanted.bytes = value,
                b"blocks per SM" => wanted.blocks = value,
                b"est. achieved occupancy %" => wanted.occupancy = value,
                b"Seq" => wanted.sequence = value,
                b"Process Group Name" => wanted.group = value,
                b"Group size" => wanted.group_size = value,
                b"In msg nelems" => wanted.elements_in = value,
                b"Out msg nelems" => wanted.elements_out = value,
                b"dtype" => wanted.element_type = value,
                b"Input Dims" => wanted.dims = value,
                b"Input type" => wanted.types = value,
                b"Concrete Inputs" => wanted.concrete = value,
                _ => {}
            }
            if !cursor.goes_on(b'}')? {
                return Ok(wanted);
            }
        }
    }
}
