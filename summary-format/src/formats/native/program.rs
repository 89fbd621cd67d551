//! Facts of the program.

use super::super::event_file::Fault;
use crate::message::Message;
use crate::program::{MAX_EXCERPT_BYTES, MAX_FIELDS, MAX_TEXT_BYTES, ProgramFact, SourceLine};
use crate::wire::{Fields, Value, text};

/// Kind 1, subject 2, numbers 3 (name 1, value 2), texts 4 (name 1, value 2), line 5.
pub(crate) fn write(fact: &ProgramFact) -> Message {
    let mut message = Message::default();
    message.text(1, &fact.kind);
    message.text(2, &fact.subject);
    for (name, value) in &fact.numbers {
        let mut number = Message::default();
        number.text(1, name);
        number.double(2, *value);
        message.message(3, &number);
    }
    for (name, value) in &fact.texts {
        let mut entry = Message::default();
        entry.text(1, name);
        entry.text(2, value);
        message.message(4, &entry);
    }
    if let Some(source) = &fact.source {
        message.message(5, &write_source(source));
    }
    message
}

/// File 1, line 2, function 3, first line of the excerpt 4, excerpt 5.
fn write_source(source: &SourceLine) -> Message {
    let mut message = Message::default();
    message.text(1, &source.file);
    message.count(2, source.line);
    message.text(3, &source.function);
    message.count(4, source.first_line);
    message.text(5, &source.excerpt);
    message
}

pub(super) fn read(message: &[u8]) -> Result<ProgramFact, Fault> {
    let mut fact = ProgramFact::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(kind)) => fact.kind = bounded(kind, MAX_TEXT_BYTES)?,
            (2, Value::Bytes(subject)) => fact.subject = bounded(subject, MAX_TEXT_BYTES)?,
            (3, Value::Bytes(number)) => fact.numbers.push(read_number(number)?),
            (4, Value::Bytes(entry)) => fact.texts.push(read_text(entry)?),
            (5, Value::Bytes(source)) => fact.source = Some(read_source(source)?),
            _ => {}
        }
        if fact.numbers.len() > MAX_FIELDS || fact.texts.len() > MAX_FIELDS {
            return Err(Fault(
                "a fact of the program has more than 64 numbers or texts",
            ));
        }
    }
    Ok(fact)
}

fn bounded(bytes: &[u8], max: usize) -> Result<String, Fault> {
    if bytes.len() > max {
        return Err(Fault("a text in a fact of the program is too long"));
    }
    Ok(text(bytes))
}

fn read_number(message: &[u8]) -> Result<(String, f64), Fault> {
    let mut number = (String::new(), 0.0);
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => number.0 = bounded(name, MAX_TEXT_BYTES)?,
            (2, Value::Fixed64(bits)) => number.1 = f64::from_bits(bits),
            _ => {}
        }
    }
    Ok(number)
}

fn read_text(message: &[u8]) -> Result<(String, String), Fault> {
    let mut entry = (String::new(), String::new());
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => entry.0 = bounded(name, MAX_TEXT_BYTES)?,
            (2, Value::Bytes(value)) => entry.1 = bounded(value, MAX_TEXT_BYTES)?,
            _ => {}
        }
    }
    Ok(entry)
}

fn read_source(message: &[u8]) -> Result<SourceLine, Fault> {
    let mut source = SourceLine::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(file)) => source.file = bounded(file, MAX_TEXT_BYTES)?,
            (2, Value::Varint(line)) => source.line = line,
            (3, Value::Bytes(function)) => source.function = bounded(function, MAX_TEXT_BYTES)?,
            (4, Value::Varint(line)) => source.first_line = line,
            (5, Value::Bytes(lines)) => source.excerpt = bounded(lines, MAX_EXCERPT_BYTES)?,
            _ => {}
        }
    }
    Ok(source)
}
