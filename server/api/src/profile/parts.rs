//! Parts of a step by kind of time.

use super::Parts;

impl Parts {
    /// Parts by kind of time: compute, communication, copies, waiting for data, host, idle. Without a device the host
    /// computes.
    pub const fn kinds(&self, has_device: bool) -> [i64; 6] {
        let host = self.runtime + self.operators;
        let (compute, host) = if has_device {
            (self.kernel, host)
        } else {
            (self.kernel + host, 0)
        };
        let copy = self.memcpy + self.memset;
        [
            compute,
            self.communication,
            copy,
            self.data,
            host,
            self.other,
        ]
    }
}
