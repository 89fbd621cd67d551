//! The stack machine: effects of instructions on values.

use std::io::{self, Read};

use super::opcode::{self, Op};
use super::{Global, MAX_DEPTH, MAX_TEXT_BYTES, MAX_VALUES, Memo, Source, Value};
use crate::trace::Texts;

/// Takes parts of the tree as soon as they are complete.
pub(crate) trait Shape {
    /// Takes a dict, whose keys and values follow each other, and returns its kind and number, or `None` to leave it in
    /// the tree. Numbers of a kind are those of its dicts in their order.
    fn take(&mut self, dict: &[Value], document: &Document) -> Option<(u8, u32)>;
}

/// The tree of a pickle.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The value; `None` if the file ends before it begins.
    pub(crate) root: Option<Value>,
    /// Texts, each once.
    pub(crate) texts: Texts,
    /// Values with several owners.
    pub(crate) shared: Vec<Value>,
    /// `true` if the file ends before the value is complete.
    pub(crate) is_cut: bool,
    /// Bytes that were read.
    pub(crate) bytes: u64,
    /// Calls that were not made, and the offset of the first.
    pub(crate) calls: u64,
    pub(crate) first_call: Option<u64>,
    /// Values that exceed a limit and became [`Value::Other`].
    pub(crate) over_limit: u64,
}

impl Document {
    /// The value itself, if it has several owners.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value {
            Value::Shared(index) => self.shared.get(*index as usize).unwrap_or(&Value::Other),
            _ => value,
        }
    }

    /// The text of a value.
    pub(crate) fn text(&self, value: &Value) -> Option<&str> {
        match self.resolve(value) {
            Value::Text(id) => Some(self.texts.get(crate::trace::TextId(*id))),
            _ => None,
        }
    }

    /// The elements of a list or tuple.
    pub(crate) fn list<'a>(&'a self, value: &'a Value) -> Option<&'a [Value]> {
        match self.resolve(value) {
            Value::List(items) => Some(&items.items),
            _ => None,
        }
    }

    /// The value of a key of a dict.
    pub(crate) fn get<'a>(&'a self, dict: &'a Value, key: &str) -> Option<&'a Value> {
        match self.resolve(dict) {
            Value::Dict(items) => self.of(&items.items, key),
            _ => None,
        }
    }

    /// The last value of a key among these.
    pub(crate) fn of<'a>(&self, items: &'a [(Value, Value)], key: &str) -> Option<&'a Value> {
        let mut items = items.iter().rev();
        items
            .find(|(name, _)| self.text(name) == Some(key))
            .map(|(_, value)| value)
    }
}

/// Number of a value; `None` for texts, and numbers below 0 or without a whole value.
pub(crate) fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Unsigned(number) => Some(*number),
        _ => None,
    }
}

/// Reads a pickle, which is opened twice: values that are not used again need no memory afterwards. Of a truncated
/// file, the tree is the part before its end.
///
/// # Errors
///
/// A file that cannot be read, or is not a pickle of protocol 2 to 5.
pub(crate) fn read<R: Read>(
    mut open: impl FnMut() -> io::Result<R>,
    shape: &mut impl Shape,
) -> io::Result<Document> {
    let mut memo = Memo::default();
    let mut source = Source::new(open()?);
    let mut buffer = Vec::new();
    if source.byte().ok() != Some(0x80) || !(2..=5).contains(&source.byte().unwrap_or(0)) {
        let reason = "it does not begin like a pickle of protocol 2 to 5";
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    loop {
        match opcode::next(&mut source, &mut buffer) {
            Ok(Op::Stop) => break,
            // Each value takes at least one byte, so larger numbers have no value.
            Ok(Op::Get(number)) if u64::from(number) < source.offset => memo.want(number),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    let mut machine = Machine {
        shape,
        memo,
        stack: Vec::new(),
        marks: Vec::new(),
        document: Document::default(),
        text_bytes: 0,
        values: 0,
    };
    let mut source = Source::new(open()?);
    loop {
        let at = source.offset;
        let op = match opcode::next(&mut source, &mut buffer) {
            Ok(Op::Stop) => break,
            Ok(op) => op,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                machine.document.is_cut = true;
                machine.close();
                break;
            }
            Err(error) => return Err(error),
        };
        if machine.run(op, &buffer, at).is_none() {
            let reason = format!("the instruction at byte {at} has no value to work on");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        if machine.stack.len() > MAX_VALUES {
            let reason = format!("byte {at} is beyond {MAX_VALUES} values that belong to nothing");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
    }
    let mut document = machine.document;
    document.bytes = source.offset;
    document.root = machine.stack.into_iter().next();
    Ok(document)
}

struct Machine<'s, S> {
    shape: &'s mut S,
    memo: Memo,
    stack: Vec<Value>,
    /// Places of the marks on the stack.
    marks: Vec<usize>,
    document: Document,
    text_bytes: usize,
    /// Values that were pushed into containers of the tree.
    values: usize,
}

impl<S: Shape> Machine<'_, S> {
    /// Follows an instruction; `None` if the stack lacks a value.
    fn run(&mut self, op: Op, buffer: &[u8], at: u64) -> Option<()> {
        match op {
            Op::Stop | Op::Nothing => {}
            Op::Push(value) => self.push(value),
            Op::Text => {
                let text = self.text(buffer);
                self.push(text);
            }
            Op::Global => {
                let global = global(&String::from_utf8_lossy(buffer));
                self.push(Value::Global(global));
            }
            Op::StackGlobal => {
                let (name, module) = (self.stack.pop()?, self.stack.pop()?);
                let text = |value| self.document.text(value).unwrap_or_default();
                let global = global(&format!("{}\n{}", text(&module), text(&name)));
                self.push(Value::Global(global));
            }
            Op::Mark => self.marks.push(self.stack.len()),
            Op::Pop if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            Op::Pop => drop(self.stack.pop()?),
            // Elements of sets are left out, like the sets.
            Op::PopMark | Op::AddItems => drop(self.behind_mark()?),
            Op::Dup => {
                let value = self.share();
                let value = value?;
                self.push(value);
            }
            Op::EmptyList => self.push(Value::List(Box::default())),
            Op::EmptyDict => self.push(Value::Dict(Box::default())),
            Op::Append => {
                let item = self.stack.pop()?;
                self.append(vec![item])?;
            }
            Op::Appends => {
                let items = self.behind_mark()?;
                self.append(items)?;
            }
            Op::SetItem => {
                let (value, key) = (self.stack.pop()?, self.stack.pop()?);
                self.set(vec![key, value])?;
            }
            Op::SetItems if self.is_taken() => {}
            Op::SetItems => {
                let items = self.behind_mark()?;
                self.set(items)?;
            }
            Op::TupleOf(count) => {
                let first = self.stack.len().checked_sub(count)?;
                let items = self.stack.split_off(first);
                self.push(Value::List(Box::default()));
                self.append(items)?;
            }
            Op::Tuple => {
                let items = self.behind_mark()?;
                self.push(Value::List(Box::default()));
                self.append(items)?;
            }
            Op::Get(number) => {
                let value = self.memo.slot(number)?.clone();
                self.push(value);
            }
            Op::Put(number) => self.remember(number)?,
            Op::Memoize => self.remember(self.memo.next)?,
            Op::Call => {
                let (arguments, function) = (self.stack.pop()?, self.stack.pop()?);
                let value = match function {
                    Value::Global(Global::Dict) => Value::Dict(Box::default()),
                    Value::Global(Global::Tagged) => first(arguments),
                    _ => self.refuse(at),
                };
                self.push(value);
            }
            Op::Make(count) => {
                let first = self.stack.len().checked_sub(count)?;
                self.stack.truncate(first);
                let value = self.refuse(at);
                self.push(value);
            }
            Op::MakeMarked => {
                self.behind_mark()?;
                let value = self.refuse(at);
                self.push(value);
            }
            Op::Build => {
                self.stack.pop()?;
                self.refuse(at);
            }
        }
        Some(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// Counts a call that is not made.
    fn refuse(&mut self, at: u64) -> Value {
        self.document.calls += 1;
        self.document.first_call.get_or_insert(at);
        Value::Other
    }

    fn text(&mut self, bytes: &[u8]) -> Value {
        let text = String::from_utf8_lossy(bytes);
        if self.document.texts.find(&text).is_none() {
            self.text_bytes += text.len();
            if self.text_bytes > MAX_TEXT_BYTES {
                self.document.over_limit += 1;
                return Value::Other;
            }
        }
        Value::Text(self.document.texts.intern(&text).0)
    }

    /// The values after the last mark, which is removed.
    fn behind_mark(&mut self) -> Option<Vec<Value>> {
        let mark = self.marks.pop()?;
        Some(self.stack.split_off(mark.min(self.stack.len())))
    }

    /// Gives the top value to several owners, and returns it for another one.
    fn share(&mut self) -> Option<Value> {
        let top = self.stack.last_mut()?;
        if !matches!(top, Value::List(_) | Value::Dict(_)) {
            return Some(top.clone());
        }
        let index = u32::try_from(self.document.shared.len()).ok()?;
        self.document
            .shared
            .push(std::mem::replace(top, Value::Shared(index)));
        Some(Value::Shared(index))
    }

    /// Keeps the top value under a number if it is read again.
    fn remember(&mut self, number: u32) -> Option<()> {
        self.memo.next = self.memo.next.max(number.saturating_add(1));
        if self.memo.slot(number).is_some() {
            let value = self.share()?;
            *self.memo.slot(number)? = value;
        }
        Some(())
    }

    /// Depth of a value for the container around it; `None` if it is nested too deeply.
    fn depth(value: &Value) -> Option<u16> {
        let below = match value {
            Value::List(items) => items.depth,
            Value::Dict(items) => items.depth,
            _ => return Some(0),
        };
        (below < MAX_DEPTH).then_some(below + 1)
    }

    /// The value, or [`Value::Other`] if it is nested too deeply or exceeds [`MAX_VALUES`]; raises the depth of its
    /// container.
    fn kept(&mut self, value: Value, depth: &mut u16) -> Value {
        let inner = Self::depth(&value).filter(|_| self.values < MAX_VALUES);
        if let Some(inner) = inner {
            *depth = inner.max(*depth);
            self.values += 1;
            value
        } else {
            self.document.over_limit += 1;
            Value::Other
        }
    }

    /// Takes the container on top, to change it.
    fn top(&mut self) -> Option<Value> {
        Some(match self.stack.last_mut()? {
            Value::Shared(index) => {
                let shared = self.document.shared.get_mut(*index as usize)?;
                std::mem::replace(shared, Value::Other)
            }
            top => std::mem::replace(top, Value::Other),
        })
    }

    /// Puts the container on top back.
    fn put_back(&mut self, value: Value) -> Option<()> {
        match self.stack.last_mut()? {
            Value::Shared(index) => {
                *self.document.shared.get_mut(*index as usize)? = value;
            }
            top => *top = value,
        }
        Some(())
    }

    /// Appends to the list on top. Anything else on top ignores them.
    fn append(&mut self, items: Vec<Value>) -> Option<()> {
        let mut top = self.top()?;
        if let Value::List(list) = &mut top {
            for item in items {
                let item = self.kept(item, &mut list.depth);
                if let (Some(Value::Taken(kind, first, count)), Value::Taken(other, number, more)) =
                    (list.items.last_mut(), &item)
                    && kind == other
                    && first.checked_add(*count) == Some(*number)
                {
                    *count += more;
                    self.values -= 1;
                } else {
                    list.items.push(item);
                }
            }
        }
        self.put_back(top)
    }

    /// Lets the shape take the empty dict before the last mark with the keys and values after it, in place: allocating
    /// millions of dicts would take most of the time. `false` if it stays in the tree.
    fn is_taken(&mut self) -> bool {
        let Some(mark) = self.marks.last().copied() else {
            return false;
        };
        let Some((before, items)) = self.stack.split_at_checked(mark) else {
            return false;
        };
        let dict = before.last().map(|dict| self.document.resolve(dict));
        if !matches!(dict, Some(Value::Dict(dict)) if dict.items.is_empty()) {
            return false;
        }
        let Some((kind, number)) = self.shape.take(items, &self.document) else {
            return false;
        };
        self.stack.truncate(mark);
        self.marks.pop();
        self.put_back(Value::Taken(kind, number, 1)).is_some()
    }

    /// Sets keys of the dict on top to the values after them.
    fn set(&mut self, items: Vec<Value>) -> Option<()> {
        let mut top = self.top()?;
        if let Value::Dict(dict) = &mut top {
            let mut items = items.into_iter();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                let value = self.kept(value, &mut dict.depth);
                dict.items.push((key, value));
            }
        }
        self.put_back(top)
    }

    /// Closes the open containers of a truncated file: values after a mark go into the container before it.
    fn close(&mut self) {
        while let Some(mut items) = self.behind_mark() {
            let around = self.stack.last().map(|top| self.document.resolve(top));
            let closed = if matches!(around, Some(Value::Dict(_))) {
                self.join(&mut items);
                // A key without a value is dropped.
                items.truncate(items.len() / 2 * 2);
                self.marks.push(self.stack.len());
                self.stack.append(&mut items);
                if self.is_taken() {
                    continue;
                }
                let items = self.behind_mark().unwrap_or_default();
                self.set(items)
            } else {
                self.append(items)
            };
            if closed.is_none() {
                break;
            }
        }
    }

    /// Appends the last containers of a dict that is cut to the lists before them: a list of one element gets it only
    /// when the element is complete.
    fn join(&mut self, items: &mut Vec<Value>) {
        let is_container = |value: &Value| {
            let value = self.document.resolve(value);
            matches!(value, Value::List(_) | Value::Dict(_) | Value::Taken(..))
        };
        let open = items
            .iter()
            .rev()
            .take_while(|value| is_container(value))
            .count();
        for _ in 1..open {
            let (Some(inner), Some(outer)) = (items.pop(), items.pop()) else {
                return;
            };
            self.push(outer);
            if self.append(vec![inner]).is_none() {
                return;
            }
            items.extend(self.stack.pop());
        }
    }
}

/// The value of a tuple of a value and its type.
fn first(tuple: Value) -> Value {
    match tuple {
        Value::List(list) => list.items.into_iter().next().unwrap_or(Value::Other),
        _ => Value::Other,
    }
}

/// The class or function of `module\nname`.
fn global(text: &str) -> Global {
    match text {
        "collections\nOrderedDict" => Global::Dict,
        "torch.jit._pickle\nrestore_type_tag" => Global::Tagged,
        _ => Global::Unknown,
    }
}
