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

/// `true` for categories of slices none of whose arguments becomes a column.
fn has_no_wanted_arguments(category: &[u8]) -> bool {
    matches!(category, b"python_function" | b"user_annotation")
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
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        cursor.expect(b'{')?;
        if cursor.peek()? == b'}' {
            cursor.at += 1;
            return Ok(());
        }
        loop {
            let key = cursor.key()?;
            if key == b"args" && cursor.peek()? == b'{' {
                let from = cursor.at;
                if !(has_no_wanted_arguments(self.category) && cursor.pass_line()?) {
                    self.wanted.read(cursor)?;
                }
                self.arguments = cursor.bytes.get(from..cursor.at).unwrap_or_default();
            } else {
                let value = cursor.raw_value()?;
                if let Some(field) = self.field(key) {
                    *field = value;
                }
            }
            if !cursor.goes_on()? {
                return Ok(());
            }
        }
    }

    /// The field of a key. The length decides first: comparing every key with every other costs more than the rest.
    #[inline]
    fn field(&mut self, key: &[u8]) -> Option<&mut &'a [u8]> {
        Some(match key.len() {
            1 if key == b"s" => &mut self.scope,
            2 => match key {
                b"ph" => &mut self.phase,
                b"ts" => &mut self.time,
                b"id" => &mut self.id,
                b"bp" => &mut self.binding,
                _ => return None,
            },
            3 => match key {
                b"cat" => &mut self.category,
                b"pid" => &mut self.process,
                b"tid" => &mut self.thread,
                b"dur" => &mut self.duration,
                b"id2" => &mut self.second_id,
                _ => return None,
            },
            4 if key == b"name" => &mut self.name,
            _ => match key {
                b"bind_id" => &mut self.bind_id,
                b"flow_in" => &mut self.flow_in,
                b"flow_out" => &mut self.flow_out,
                b"scope_level" => &mut self.scope_level,
                _ => return None,
            },
        })
    }
}

impl<'a> Arguments<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        cursor.expect(b'{')?;
        if cursor.peek()? == b'}' {
            cursor.at += 1;
            return Ok(());
        }
        loop {
            let key = cursor.key()?;
            let value = cursor.raw_value()?;
            if let Some(field) = self.field(key) {
                *field = value;
            }
            if !cursor.goes_on()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn field(&mut self, key: &[u8]) -> Option<&mut &'a [u8]> {
        Some(match key.len() {
            3 if key == b"Seq" => &mut self.sequence,
            4 if key == b"Addr" => &mut self.address,
            5 => match key {
                b"Bytes" => &mut self.allocated_here,
                b"bytes" => &mut self.bytes,
                b"dtype" => &mut self.element_type,
                _ => return None,
            },
            6 if key == b"device" => &mut self.device,
            9 if key == b"Device Id" => &mut self.device_id,
            10 => match key {
                b"Input Dims" => &mut self.dims,
                b"Input type" => &mut self.types,
                b"Group size" => &mut self.group_size,
                _ => return None,
            },
            11 => match key {
                b"correlation" => &mut self.correlation,
                b"Device Type" => &mut self.device_type,
                _ => return None,
            },
            13 => match key {
                b"blocks per SM" => &mut self.blocks,
                b"In msg nelems" => &mut self.elements_in,
                _ => return None,
            },
            14 => match key {
                b"Total Reserved" => &mut self.total_reserved,
                b"Out msg nelems" => &mut self.elements_out,
                _ => return None,
            },
            15 => match key {
                b"Total Allocated" => &mut self.total_allocated,
                b"Concrete Inputs" => &mut self.concrete,
                _ => return None,
            },
            18 if key == b"Process Group Name" => &mut self.group,
            25 if key == b"est. achieved occupancy %" => &mut self.occupancy,
            _ => return None,
        })
    }
}
