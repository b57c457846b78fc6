//! Numbers of 32 bits that the host reads some at a time.

use crate::array::Cells;
use crate::error::Result;

/// Bytes of cells that the host has at hand at a time.
const BYTES: usize = 128 << 10;

/// Calls `f` with some numbers at a time, and how many come before.
pub fn over_numbers(numbers: &Cells, mut f: impl FnMut(u64, &[u32]) -> Result<()>) -> Result<()> {
    for slice in numbers.slices(BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        f(slice.start, &some)?;
    }
    Ok(())
}
