//! [`Blocks`]: bytes of a rank's part, block by block.

use super::part::{Before, Part};
use super::rows::Rows;
use super::sections::FileSections;

/// Bytes of a block, unless a row has more.
const BLOCK_BYTES: u64 = 1 << 20;
/// Lines of a block of text: about 30 bytes each, at most 160.
const BLOCK_LINES: usize = 1 << 14;

/// Iterator over the bytes of a rank's part in blocks, each with its offset in the file.
#[derive(Debug)]
pub struct Blocks<'a> {
    layout: &'a FileSections,
    part: Part<'a>,
    before: Before,
    section: usize,
    row: usize,
    at: u64,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(layout: &'a FileSections, part: Part<'a>, before: Before) -> Self {
        Self { layout, part, before, section: 0, row: 0, at: 0 }
    }

    fn bytes_of_lower_ranks(&self, rows: Rows) -> u64 {
        let count = rows.shape().map_or(self.before.vertices, |shape| shape.before(&self.before));
        rows.bytes(&self.layout.content).map_or(rows.text(&self.before.text), |row_bytes| count * row_bytes)
    }
}

impl Iterator for Blocks<'_> {
    type Item = (u64, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let section = self.layout.sections.get(self.section)?;
            let rows = section.rows;
            let count = rows.count(&self.part);
            if self.row == count {
                (self.section, self.row) = (self.section + 1, 0);
                continue;
            }
            if self.row == 0 {
                self.at = section.start + self.bytes_of_lower_ranks(rows);
            }
            let row_bytes = rows.bytes(&self.layout.content);
            let most = row_bytes.map_or(BLOCK_LINES, |row_bytes| (BLOCK_BYTES / row_bytes).max(1) as usize);
            let end = count.min(self.row.saturating_add(most));
            let mut bytes = Vec::with_capacity((end - self.row) * row_bytes.unwrap_or(32) as usize);
            rows.append(&self.part, (&self.before, &self.layout.content.whole), self.row..end, &mut bytes);
            let at = self.at;
            (self.row, self.at) = (end, at + bytes.len() as u64);
            return Some((at, bytes));
        }
    }
}
