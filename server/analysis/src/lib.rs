//! Judgements and summaries over records: pure functions, no files, no threads.
