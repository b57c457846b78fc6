//! [`Blocks`]: the bytes of a part, block by block.

use super::part::{Before, Part};
use super::rows::Rows;
use super::sections::FileSections;

/// Bytes of a block, unless a row has more.
const BLOCK: u64 = 1 << 20;
/// Lines of a block of text; a line usually has 30 bytes, and at most 160.
const LINES: usize = 1 << 14;

/// Iterator over the bytes of a rank's part in blocks, each with its offset in the file.
#[derive(Debug)]
pub struct Blocks<'a> {
    layout: &'a FileSections,
    part: Part<'a>,
    before: Before,
    /// Next section, next row, and the offset of the row.
    section: usize,
    row: usize,
    at: u64,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(layout: &'a FileSections, part: Part<'a>, before: Before) -> Self {
        Self { layout, part, before, section: 0, row: 0, at: 0 }
    }

    /// Bytes of the rows of lower ranks.
    fn lower(&self, rows: Rows) -> u64 {
        let count = rows.shape().map_or(self.before.vertices, |shape| shape.before(&self.before));
        rows.bytes(&self.layout.content).map_or(rows.text(&self.before.text), |each| count * each)
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
                self.at = section.start + self.lower(rows);
            }
            let each = rows.bytes(&self.layout.content);
            let most = each.map_or(LINES, |each| (BLOCK / each).max(1) as usize);
            let end = count.min(self.row.saturating_add(most));
            let mut bytes = Vec::with_capacity((end - self.row) * each.unwrap_or(32) as usize);
            rows.put(&self.part, (&self.before, &self.layout.content.whole), self.row..end, &mut bytes);
            let at = self.at;
            (self.row, self.at) = (end, at + bytes.len() as u64);
            return Some((at, bytes));
        }
    }
}
