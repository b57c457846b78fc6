use naga::Span;

/// Byte offset of the start of each line of a source text.
pub(super) struct Lines(Vec<u32>);

impl Lines {
    pub(super) fn new(source: &str) -> Self {
        let line_feeds = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(line_feeds.map(|(offset, _)| offset as u32 + 1).collect())
    }

    pub(super) fn line(&self, span: Span) -> u32 {
        match span.to_range() {
            Some(range) if !self.0.is_empty() => {
                self.0.partition_point(|begin| *begin as usize <= range.start) as u32 + 1
            }
            _ => 0,
        }
    }
}
