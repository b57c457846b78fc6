//! [`MessageForm`]: layout of a delivery message. The columns are consecutive; each starts at a
//! multiple of 4 bytes.

use std::ops::Range;

/// Layout of the messages of a delivery, the same on every rank.
pub(super) struct MessageForm {
    /// Size of a cell in bytes, per column.
    sizes: Vec<u64>,
}

impl MessageForm {
    pub(super) fn new(sizes: impl Iterator<Item = usize>) -> Self {
        Self { sizes: sizes.map(|size| size as u64).collect() }
    }

    pub(super) fn width(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Byte range of each column in a message with this number of cells.
    pub(super) fn columns(&self, cells: u64) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0_u64;
        self.sizes.iter().map(move |size| {
            let start = next.next_multiple_of(4);
            next = start + cells * size;
            start as usize..next as usize
        })
    }

    /// Size in bytes of a message with this number of cells. Different numbers of cells have
    /// different sizes.
    pub(super) fn bytes(&self, cells: u64) -> u64 {
        self.columns(cells).last().map_or(0, |column| column.end as u64)
    }

    /// Number of cells in a message of this size in bytes. `None` if no message has this size.
    pub(super) fn cells(&self, bytes: u64) -> Option<u64> {
        // Upper bound: the number of cells without padding between columns.
        let mut cells = bytes / self.width();
        while self.bytes(cells) > bytes {
            cells -= 1;
        }
        (self.bytes(cells) == bytes).then_some(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_cells_follows_from_message_length() {
        for sizes in [&[1][..], &[12], &[1, 1], &[2, 1, 1, 1, 1], &[1, 2, 1, 4], &[8, 1], &[3 * 4, 2]] {
            let form = MessageForm::new(sizes.iter().copied());
            let lengths: Vec<u64> = (0..200).map(|cells| form.bytes(cells)).collect();
            for bytes in 0..lengths[199] {
                let found = lengths.iter().position(|&length| length == bytes);
                assert_eq!(form.cells(bytes), found.map(|cells| cells as u64), "{sizes:?}, {bytes} bytes");
            }
            for cells in 0..50 {
                let mut end = 0;
                for (column, size) in form.columns(cells).zip(sizes) {
                    assert!(column.start.is_multiple_of(4) && (end..end + 4).contains(&column.start));
                    assert_eq!(column.len(), cells as usize * size);
                    end = column.end;
                }
            }
        }
    }
}
