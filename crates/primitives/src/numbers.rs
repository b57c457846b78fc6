//! Reads 32-bit numbers on the host in portions.

use zippy::collective::CellSequence;
use zippy::error::Result;

/// Size, in bytes, of the portion of numbers that the host reads at a time.
const PORTION_BYTES: usize = 128 << 10;

/// Calls `f` with consecutive portions of 32-bit numbers, and the number of cells before each
/// portion.
pub(crate) fn over_numbers(numbers: &CellSequence, mut f: impl FnMut(u64, &[u32]) -> Result<()>) -> Result<()> {
    for slice in numbers.slices(PORTION_BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        f(slice.start, &some)?;
    }
    Ok(())
}
