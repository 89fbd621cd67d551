//! A protobuf message that is being written.

/// The fields written so far, in order.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes back all fields and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn varint(&mut self, number: u32, value: u64) {
        self.key(number, 0);
        self.raw_varint(value);
    }

    pub(super) fn double(&mut self, number: u32, value: f64) {
        self.key(number, 1);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn float(&mut self, number: u32, value: f32) {
        self.key(number, 5);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.key(number, 2);
        self.raw_varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn message(&mut self, number: u32, message: &Self) {
        self.bytes(number, &message.bytes);
    }

    /// Text that is left out where it is empty.
    pub(super) fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn key(&mut self, number: u32, wire_type: u64) {
        self.raw_varint(u64::from(number) << 3 | wire_type);
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }
}
