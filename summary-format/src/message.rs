//! Protobuf message writer.

/// The fields written so far, in order.
#[derive(Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes all fields and keeps the capacity.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn varint(&mut self, number: u32, value: u64) {
        self.key(number, 0);
        self.raw_varint(value);
    }

    pub(crate) fn double(&mut self, number: u32, value: f64) {
        self.key(number, 1);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn float(&mut self, number: u32, value: f32) {
        self.key(number, 5);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.key(number, 2);
        self.raw_varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn message(&mut self, number: u32, message: &Self) {
        self.bytes(number, &message.bytes);
    }

    /// Appends text unless it is empty.
    pub(crate) fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    /// Appends a list of numbers unless it is empty.
    pub(crate) fn packed_varints(&mut self, number: u32, values: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        for value in values {
            packed.raw_varint(value);
        }
        self.part(number, &packed);
    }

    /// Appends a list of numbers near zero, of either sign, unless it is empty.
    pub(crate) fn packed_zigzags(&mut self, number: u32, values: impl IntoIterator<Item = i64>) {
        let zigzag = |value: i64| ((value << 1) ^ (value >> 63)).cast_unsigned();
        self.packed_varints(number, values.into_iter().map(zigzag));
    }

    /// Appends a list of eight-byte values unless it is empty.
    pub(crate) fn packed_fixed64(&mut self, number: u32, values: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        for value in values {
            packed.bytes.extend(value.to_le_bytes());
        }
        self.part(number, &packed);
    }

    /// Appends a list of numbers unless it is empty.
    pub(crate) fn packed_doubles(&mut self, number: u32, values: impl IntoIterator<Item = f64>) {
        self.packed_fixed64(number, values.into_iter().map(f64::to_bits));
    }

    /// Appends a message unless it is empty.
    pub(crate) fn part(&mut self, number: u32, message: &Self) {
        if !message.is_empty() {
            self.message(number, message);
        }
    }

    /// Appends a number unless it is 0.
    pub(crate) fn count(&mut self, number: u32, value: u64) {
        if value != 0 {
            self.varint(number, value);
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
