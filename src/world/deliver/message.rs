//! A message of a delivery: so many cells of each column, column by column, each from a whole word on.

use std::ops::Range;

/// How messages are laid out, the same on every rank.
pub(super) struct MessageForm {
    /// Bytes of a cell of each column.
    sizes: Vec<u64>,
}

impl MessageForm {
    pub fn new(sizes: impl Iterator<Item = usize>) -> Self {
        Self { sizes: sizes.map(|size| size as u64).collect() }
    }

    /// Bytes of one cell of all columns.
    pub fn width(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Where each column stands in a message of so many cells.
    pub fn columns(&self, cells: u64) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0_u64;
        self.sizes.iter().map(move |size| {
            let start = next.next_multiple_of(4);
            next = start + cells * size;
            start as usize..next as usize
        })
    }

    /// Bytes of a message of so many cells: different ones for different numbers of cells.
    pub fn bytes(&self, cells: u64) -> u64 {
        self.columns(cells).last().map_or(0, |column| column.end as u64)
    }

    /// The cells of a message of so many bytes; `None` where no message is so long.
    pub fn cells(&self, bytes: u64) -> Option<u64> {
        // Without what stands between columns there would be room for so many.
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
    fn the_length_of_a_message_tells_its_cells() {
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
