//! [`FileSections`]: frame and rows of a mesh file, in the order of the file.

use super::content::MeshContent;
use super::part::Whole;
use super::rows::Rows;
use crate::IoError;

/// Rows of one kind, of all ranks in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Section {
    pub rows: Rows,
    /// Offset of the first rank's first row.
    pub start: u64,
}

/// Frame, which one rank writes, and rows of a mesh file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileSections {
    pub content: MeshContent,
    pub sections: Vec<Section>,
    /// Bytes that one rank writes, with their offsets.
    pub frame: Vec<(u64, Vec<u8>)>,
    pub length: u64,
}

impl FileSections {
    pub(crate) fn new(content: MeshContent) -> Self {
        Self { content, sections: Vec::new(), frame: Vec::new(), length: 0 }
    }

    /// Bytes of all rows of one kind; more than 63 bits are an error.
    pub(crate) fn bytes(&self, rows: Rows) -> Result<u64, IoError> {
        let count = rows.shape().map_or(self.content.whole.vertices, |shape| shape.in_whole(&self.content.whole));
        let bytes =
            rows.bytes(&self.content).map_or(Some(rows.text(&self.content.whole.text)), |each| count.checked_mul(each));
        bytes.filter(|&bytes| i64::try_from(bytes).is_ok()).ok_or_else(|| self.too_long())
    }

    pub(crate) fn too_long(&self) -> IoError {
        let Whole { vertices, triangles, cells, .. } = self.content.whole;
        let cells = if cells.all() > 0 { format!(", {} cells", cells.all()) } else { String::new() };
        IoError::mesh(format!("{vertices} vertices and {triangles} triangles{cells} are more bytes than fit 63 bits"))
    }

    /// Appends bytes that one rank writes.
    pub(crate) fn put(&mut self, bytes: Vec<u8>) -> Result<(), IoError> {
        let start = self.grow(bytes.len() as u64)?;
        self.frame.push((start, bytes));
        Ok(())
    }

    pub(crate) fn rows(&mut self, rows: Rows) -> Result<(), IoError> {
        let start = self.grow(self.bytes(rows)?)?;
        self.sections.push(Section { rows, start });
        Ok(())
    }

    fn grow(&mut self, bytes: u64) -> Result<u64, IoError> {
        let start = self.length;
        self.length =
            start.checked_add(bytes).filter(|&end| i64::try_from(end).is_ok()).ok_or_else(|| self.too_long())?;
        Ok(start)
    }
}
