//! Requests against the whole router.
