//! TFRecord framing, resumable: the frames of all event files.
//!
//! A frame is `length: u64`, `masked crc32c of those 8 bytes: u32`, `payload`, `masked crc32c of the payload: u32`,
//! all little-endian. Both checksums are always verified. The result depends on the bytes alone, never on how they
//! were cut into calls, and a length field never decides how much memory is allocated: the buffer holds only bytes
//! that were fed.

use crate::record::Damage;

/// Length and its checksum.
const HEADER_LEN: usize = 12;
/// Size of a frame without its payload.
const OVERHEAD_LEN: usize = HEADER_LEN + 4;
/// Maximum payload; a longer frame is damage: no writer makes one, and its end might never come.
pub(crate) const MAX_PAYLOAD_LEN: u64 = 1 << 30;
/// Capacity above which the buffer is released after a large truncated frame.
const KEPT_CAPACITY: usize = 1 << 20;
/// Budget for resynchronisation: bytes of failed payload checksums for each byte skipped. Without a limit, a crafted
/// file of valid headers with large lengths would take quadratic time.
const CHECKSUMS_PER_BYTE: u64 = 64;

const BAD_HEADER: &str = "the checksum of a record's length is wrong";
const BAD_LENGTH: &str = "a record claims to be longer than 1 GiB";
const BAD_PAYLOAD: &str = "the checksum of a record is wrong";
const LFS_POINTER: &str =
    "it is a pointer of Git LFS in place of the file: `git lfs pull` downloads the file";
/// First bytes of such a pointer, `version https://git-lfs.github.com/spec/v1`.
const LFS_HEADER: &[u8; HEADER_LEN] = b"version http";

/// Finds the frames in the bytes of one file.
#[derive(Debug)]
pub struct FrameReader {
    /// File offset of the next byte to examine: `waiting[start]`, or of the next byte fed if none is buffered.
    position: u64,
    /// The last header with a valid checksum. Most records of a file are equally long.
    last_header: [u8; HEADER_LEN],
    /// The damage being skipped, if any.
    damage: Option<OpenDamage>,
    /// Bytes of an incomplete frame, which begins at `start`.
    waiting: Vec<u8>,
    start: usize,
    /// Number of bytes after `start` needed to decide; meaningless if none is buffered.
    needed: usize,
}

#[derive(Debug)]
struct OpenDamage {
    offset: u64,
    reason: &'static str,
    /// Bytes of failed payload checksums within this damage.
    checked_in_vain: u64,
}

/// Result of examining a position.
enum Candidate {
    /// A frame with correct checksums.
    Frame { len: usize },
    /// Too few bytes to decide: this many are needed.
    Torn { needed: usize },
    /// Not a frame; the search resumes this many bytes later.
    Broken { skip: usize, reason: &'static str },
}

impl FrameReader {
    /// Reader that starts at this offset of its file. If it is the start of damage, the same damage is reported again.
    pub fn at(offset: u64) -> Self {
        let zero_len = [0; 8];
        let mut last_header = [0; HEADER_LEN];
        last_header[8..].copy_from_slice(&masked_crc32c(&zero_len).to_le_bytes());
        Self {
            position: offset,
            last_header,
            damage: None,
            waiting: Vec::new(),
            start: 0,
            needed: 0,
        }
    }

    /// Reads the bytes that follow those of the last call. Each complete frame's payload is handed to `read` with its
    /// offset in the file. If `read` returns an error, the frame counts as damaged like one with a wrong checksum, and
    /// may be handed to `read` again after a restart from [`Self::offset`]. Damage that has ended is appended to
    /// `damages`.
    ///
    /// Complete frames are handed over in place; only a frame cut by the end of `bytes` is copied.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        damages: &mut Vec<Damage>,
        mut read: impl FnMut(&[u8], u64) -> Result<(), &'static str>,
    ) {
        if !self.waiting.is_empty() {
            bytes = self.push_onto_waiting(bytes, damages, &mut read);
        }
        if bytes.is_empty() {
            return;
        }
        let (used, needed) = self.scan(bytes, damages, &mut read);
        self.waiting.extend_from_slice(&bytes[used..]);
        self.needed = needed;
    }

    /// Completes the buffered frame with as few of the new bytes as possible and returns the rest, to be read in
    /// place. The rest is empty as long as bytes are buffered.
    fn push_onto_waiting<'a>(
        &mut self,
        mut bytes: &'a [u8],
        damages: &mut Vec<Damage>,
        read: &mut impl FnMut(&[u8], u64) -> Result<(), &'static str>,
    ) -> &'a [u8] {
        loop {
            let old_len = self.waiting.len() - self.start;
            // At least a header beyond the old bytes, so that the search for the next header can discard them.
            let wanted = self.needed.max(old_len + HEADER_LEN);
            let taken = bytes.len().min(wanted - old_len);
            self.waiting.extend_from_slice(&bytes[..taken]);
            if old_len + taken < self.needed {
                return &[];
            }
            let waiting = std::mem::take(&mut self.waiting);
            let (used, needed) = self.scan(&waiting[self.start..], damages, read);
            self.waiting = waiting;
            if used >= old_len {
                self.waiting.clear();
                self.start = 0;
                if self.waiting.capacity() > KEPT_CAPACITY {
                    self.waiting = Vec::new();
                }
                return &bytes[used - old_len..];
            }
            self.needed = needed;
            self.start += used;
            // Moving the rest to the front only if it is the smaller half keeps this linear.
            if self.start > self.waiting.len() / 2 {
                self.waiting.drain(..self.start);
                self.start = 0;
            }
            bytes = &bytes[taken..];
            if bytes.is_empty() {
                return bytes;
            }
        }
    }

    /// Reads all complete frames in `bytes`, which begins at `self.position`, and advances the position. Returns the
    /// number of bytes used, and the number that the rest must reach before more can be decided.
    fn scan(
        &mut self,
        bytes: &[u8],
        damages: &mut Vec<Damage>,
        read: &mut impl FnMut(&[u8], u64) -> Result<(), &'static str>,
    ) -> (usize, usize) {
        let mut used = 0;
        let needed = loop {
            let rest = &bytes[used..];
            let (step, broken) = match self.candidate(rest) {
                Candidate::Torn { needed } => break needed,
                Candidate::Broken { skip, reason } => (skip, Some(reason)),
                Candidate::Frame { len } => {
                    let payload_offset = self.position + HEADER_LEN as u64;
                    match read(&rest[HEADER_LEN..len - 4], payload_offset) {
                        Ok(()) => (len, None),
                        Err(reason) => (len, Some(reason)),
                    }
                }
            };
            if let Some(reason) = broken {
                let offset = self.position;
                self.damage.get_or_insert(OpenDamage {
                    offset,
                    reason,
                    checked_in_vain: 0,
                });
            } else if let Some(damage) = self.damage.take() {
                damages.push(damage.until(self.position));
            }
            used += step;
            self.position += step as u64;
        };
        (used, needed)
    }

    #[inline]
    fn candidate(&mut self, rest: &[u8]) -> Candidate {
        let Some(header) = rest.first_chunk::<HEADER_LEN>() else {
            return Candidate::Torn { needed: HEADER_LEN };
        };
        let payload_len = if *header == self.last_header && self.damage.is_none() {
            length(header)
        } else {
            match self.check_header(header) {
                Ok(len) => len,
                Err(reason) => return Candidate::Broken { skip: 1, reason },
            }
        };
        // At most MAX_PAYLOAD_LEN, which fits into every type.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "check_header caps it at 1 GiB"
        )]
        let len = payload_len as usize + OVERHEAD_LEN;
        match rest.get(HEADER_LEN..len) {
            None => Candidate::Torn { needed: len },
            Some(payload) if is_right(payload) => Candidate::Frame { len },
            Some(_) => self.broken_payload(rest, len),
        }
    }

    /// The length, if its checksum and size are valid and the search budget allows checking the payload.
    fn check_header(&mut self, header: &[u8; HEADER_LEN]) -> Result<u64, &'static str> {
        let len = length(header);
        let is_searching = self.damage.is_some();
        // During a search most bytes are garbage: checking the length first saves nearly all checksums.
        if is_searching && len > MAX_PAYLOAD_LEN {
            return Err(BAD_LENGTH);
        }
        if !is_right(header) {
            let is_pointer = self.position == 0 && header == LFS_HEADER;
            return Err(if is_pointer { LFS_POINTER } else { BAD_HEADER });
        }
        if len > MAX_PAYLOAD_LEN {
            return Err(BAD_LENGTH);
        }
        if let Some(damage) = &self.damage {
            let passed = self.position - damage.offset;
            if damage.checked_in_vain + len > MAX_PAYLOAD_LEN + CHECKSUMS_PER_BYTE * passed {
                return Err(BAD_PAYLOAD);
            }
        }
        self.last_header = *header;
        Ok(len)
    }

    /// Valid header with an invalid payload. If another header follows, the length is right too, and only this frame
    /// is lost. Otherwise bytes are missing or added, and frames may begin within the payload.
    #[cold]
    fn broken_payload(&mut self, rest: &[u8], len: usize) -> Candidate {
        let offset = self.position;
        let damage = self.damage.get_or_insert(OpenDamage {
            offset,
            reason: BAD_PAYLOAD,
            checked_in_vain: 0,
        });
        let Some(next) = rest.get(len..).and_then(<[u8]>::first_chunk::<HEADER_LEN>) else {
            return Candidate::Torn {
                needed: len + HEADER_LEN,
            };
        };
        damage.checked_in_vain += len as u64;
        let skip = if is_right(next) { len } else { 1 };
        Candidate::Broken {
            skip,
            reason: BAD_PAYLOAD,
        }
    }

    /// End of the last complete frame, or start of open damage.
    pub fn offset(&self) -> u64 {
        self.damage
            .as_ref()
            .map_or(self.position, |damage| damage.offset)
    }

    /// Damage whose end has not been reached, up to the last byte fed.
    pub fn open_damage(&self) -> Option<Damage> {
        let fed = self.position + (self.waiting.len() - self.start) as u64;
        self.damage.as_ref().map(|damage| damage.until(fed))
    }
}

impl OpenDamage {
    fn until(&self, end: u64) -> Damage {
        Damage {
            offset: self.offset,
            len_bytes: end - self.offset,
            reason: self.reason.to_owned(),
        }
    }
}

impl Default for FrameReader {
    fn default() -> Self {
        Self::at(0)
    }
}

fn length(header: &[u8; HEADER_LEN]) -> u64 {
    header
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// `true` if bytes end with their checksum.
#[inline]
fn is_right(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk()
        .is_some_and(|(bytes, masked)| masked_crc32c(bytes) == u32::from_le_bytes(*masked))
}

/// crc32c, rotated and offset, so that the checksum of bytes that contain checksums is still a good one (TFRecord).
#[inline]
pub(crate) fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}
