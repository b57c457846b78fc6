//! Line numbers of a source text.

use naga::Span;

/// Offset of the begin of each line, in bytes.
pub(super) struct Lines(Vec<u32>);

impl Lines {
    pub(super) fn new(source: &str) -> Self {
        let line_feeds = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(line_feeds.map(|(offset, _)| offset as u32 + 1).collect())
    }

    /// Line of the beginning of `span`, from 1; 0 where it is unknown.
    pub(super) fn line(&self, span: Span) -> u32 {
        match span.to_range() {
            Some(range) if !self.0.is_empty() => {
                self.0.partition_point(|begin| *begin as usize <= range.start) as u32 + 1
            }
            _ => 0,
        }
    }
}
