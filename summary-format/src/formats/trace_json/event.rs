//! Fields of one event, and those of its arguments that become columns.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::cursor::{Cursor, Stop};
use super::words::word_of;

/// The key of the arguments.
const ARGS: u64 = word_of(b"args");

static CONCRETE: LineKey = LineKey::new(|| Finder::new(b"\"Concrete Inputs\""));
static TYPES: LineKey = LineKey::new(|| Finder::new(b"\"Input type\""));
static DIMS: LineKey = LineKey::new(|| Finder::new(b"\"Input Dims\""));
static NUMBER: LineKey = LineKey::new(|| Finder::new(b"\"Sequence number\""));
static CORRELATION: LineKey = LineKey::new(|| Finder::new(b"\"correlation\""));

/// Operator around a collective of `PyTorch`: it has the size of the message.
pub(super) const COLLECTIVE: &[u8] = b"record_param_comms";

/// `true` for the name of the annotation around a collective, whose inputs are those of the collective.
pub(super) fn is_collective(name: &[u8]) -> bool {
    name.starts_with(b"nccl:") || name.starts_with(b"gloo:") || name.starts_with(b"mpi:")
}

/// A key to search for in a line of arguments.
struct LineKey(LazyLock<Finder<'static>>);

impl LineKey {
    const fn new(finder: fn() -> Finder<'static>) -> Self {
        Self(LazyLock::new(finder))
    }

    /// Its value; empty if it is missing. Quotes in strings are escaped, so a key with its quotes is never inside one.
    fn value<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut from = 0;
        while let Some(at) = self.0.find(line.get(from..).unwrap_or_default()) {
            let key = from + at;
            from = key + self.0.needle().len();
            let is_escaped = key.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'\\');
            let mut cursor = Cursor::new(line, from);
            if !is_escaped && cursor.expect(b':').is_ok() {
                return cursor.raw_value().unwrap_or_default();
            }
        }
        b""
    }
}

/// An event as the file has it; missing fields are empty.
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

/// Arguments that become columns; empty if they are missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) correlation: &'a [u8],
    /// Number of a recorded operator in autograd.
    pub(super) autograd_number: &'a [u8],
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
    /// `true` without any of these fields.
    pub(super) fn is_empty(&self) -> bool {
        let fields = [self.phase, self.name, self.category, self.time];
        fields.iter().all(|field| field.is_empty())
    }

    /// Reads the event that begins at the cursor's brace.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        let mut slice = *cursor;
        if self.read_slice_of_kineto(&mut slice).is_some() {
            *cursor = slice;
            self.read_arguments(cursor)?;
            if !cursor.goes_on()? {
                return Ok(());
            }
        } else {
            cursor.expect(b'{')?;
            if cursor.peek()? == b'}' {
                cursor.at += 1;
                return Ok(());
            }
        }
        loop {
            let (key, word) = cursor.key()?;
            if word == ARGS && cursor.peek()? == b'{' {
                self.read_arguments(cursor)?;
            } else {
                let value = cursor.raw_value()?;
                if let Some(field) = self.field(key, word) {
                    *field = value;
                }
            }
            if !cursor.goes_on()? {
                return Ok(());
            }
        }
    }

    /// Reads a slice up to the brace of its arguments if its bytes are laid out as by Kineto: most events of most
    /// files. `None` for all others, which are read key by key.
    fn read_slice_of_kineto(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let field = |cursor: &mut Cursor<'a>| cursor.raw_value().ok();
        cursor
            .passes(b"{\n    \"ph\": \"X\",\n    \"cat\": ")
            .then_some(())?;
        let category = field(cursor)?;
        cursor.passes(b",\n    \"name\": ").then_some(())?;
        let name = field(cursor)?;
        cursor.passes(b",\n    \"pid\": ").then_some(())?;
        let process = field(cursor)?;
        cursor.passes(b",\n    \"tid\": ").then_some(())?;
        let thread = field(cursor)?;
        cursor.passes(b",\n    \"ts\": ").then_some(())?;
        let time = field(cursor)?;
        cursor.passes(b",\n    \"dur\": ").then_some(())?;
        let duration = field(cursor)?;
        cursor.passes(b",\n    \"args\": ").then_some(())?;
        (cursor.bytes.get(cursor.at) == Some(&b'{')).then_some(())?;
        self.phase = b"X";
        self.category = category;
        self.name = name;
        self.process = process;
        self.thread = thread;
        self.time = time;
        self.duration = duration;
        Some(())
    }

    /// Reads the object of the arguments. In Kineto's lines, only arguments that become columns are searched.
    fn read_arguments(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        let from = cursor.at;
        let wanted = &mut self.wanted;
        let line = match (self.phase, self.category) {
            (b"X", b"cpu_op" | b"user_annotation" | b"python_function" | b"cuda_runtime") => {
                cursor.line_object()?
            }
            _ => None,
        };
        match (line, self.category) {
            (None, _) => wanted.read(cursor)?,
            (Some(_), b"cpu_op") if self.name == COLLECTIVE => {
                wanted.read(&mut Cursor::new(cursor.bytes, from))?;
            }
            (Some(line), b"user_annotation") if is_collective(self.name) => {
                wanted.types = TYPES.value(line);
                wanted.dims = DIMS.value(line);
            }
            (Some(line), b"cpu_op") => {
                wanted.concrete = CONCRETE.value(line);
                wanted.types = TYPES.value(line);
                wanted.dims = DIMS.value(line);
                wanted.autograd_number = NUMBER.value(line);
            }
            (Some(line), b"cuda_runtime") => wanted.correlation = CORRELATION.value(line),
            (Some(_), _) => {}
        }
        self.arguments = cursor.bytes.get(from..cursor.at).unwrap_or_default();
        Ok(())
    }

    /// The field of a key. Eight bytes are compared at once: comparing every key with every other costs more than the
    /// rest.
    #[inline]
    fn field(&mut self, key: &[u8], word: u64) -> Option<&mut &'a [u8]> {
        const PHASE: u64 = word_of(b"ph");
        const NAME: u64 = word_of(b"name");
        const CATEGORY: u64 = word_of(b"cat");
        const PROCESS: u64 = word_of(b"pid");
        const THREAD: u64 = word_of(b"tid");
        const TIME: u64 = word_of(b"ts");
        const DURATION: u64 = word_of(b"dur");
        const ID: u64 = word_of(b"id");
        const SECOND_ID: u64 = word_of(b"id2");
        const SCOPE: u64 = word_of(b"s");
        const BINDING: u64 = word_of(b"bp");
        const BIND_ID: u64 = word_of(b"bind_id");
        const FLOW_IN: u64 = word_of(b"flow_in");
        Some(match word {
            PHASE => &mut self.phase,
            NAME => &mut self.name,
            CATEGORY => &mut self.category,
            PROCESS => &mut self.process,
            THREAD => &mut self.thread,
            TIME => &mut self.time,
            DURATION => &mut self.duration,
            ID => &mut self.id,
            SECOND_ID => &mut self.second_id,
            SCOPE => &mut self.scope,
            BINDING => &mut self.binding,
            BIND_ID => &mut self.bind_id,
            FLOW_IN => &mut self.flow_in,
            _ if key.len() < 8 => return None,
            _ => match key {
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
            let (key, word) = cursor.key()?;
            let value = cursor.raw_value()?;
            if let Some(field) = self.field(key, word) {
                *field = value;
            }
            if !cursor.goes_on()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn field(&mut self, key: &[u8], word: u64) -> Option<&mut &'a [u8]> {
        // Pairs of a key and its field; the first eight bytes decide, the others are compared once.
        macro_rules! fields {
            ($($key:literal => $field:ident,)*) => {
                Some(match word {
                    $(_ if word == const { word_of($key) } && key == $key => &mut self.$field,)*
                    _ => return None,
                })
            };
        }
        fields! {
            b"correlation" => correlation,
            b"Sequence number" => autograd_number,
            b"Input Dims" => dims,
            b"Input type" => types,
            b"Concrete Inputs" => concrete,
            b"Bytes" => allocated_here,
            b"Addr" => address,
            b"Total Allocated" => total_allocated,
            b"Total Reserved" => total_reserved,
            b"Device Type" => device_type,
            b"Device Id" => device_id,
            b"device" => device,
            b"bytes" => bytes,
            b"blocks per SM" => blocks,
            b"est. achieved occupancy %" => occupancy,
            b"Seq" => sequence,
            b"Process Group Name" => group,
            b"Group size" => group_size,
            b"In msg nelems" => elements_in,
            b"Out msg nelems" => elements_out,
            b"dtype" => element_type,
        }
    }
}
