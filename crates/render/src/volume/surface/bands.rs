//! Bands of image rows, such that one binding holds all output of a band.

use std::ops::Range;

use zippy::{World, wgpu};

use crate::error::RenderError;

/// Alignment of bindings in bytes; valid on every device.
const ALIGNMENT: u64 = 256;

/// Per-pixel output array, bound for one band of rows at a time.
pub(super) struct BandedOutput<'a> {
    pub binding: u32,
    pub buffer: &'a wgpu::Buffer,
    /// Byte offset of a row; for the height of the image, the end of the last row.
    pub rows: &'a dyn Fn(u32) -> u64,
}

impl BandedOutput<'_> {
    pub(super) fn bytes(&self, rows: &Range<u32>) -> Range<u64> {
        let (start, end) = ((self.rows)(rows.start), (self.rows)(rows.end));
        let start = start.min(self.buffer.size() - 4) / ALIGNMENT * ALIGNMENT;
        start..end.max(start + 4)
    }

    /// Number of words between the start of the binding and the first word of the band.
    pub(super) fn words_before(&self, rows: &Range<u32>) -> u32 {
        (((self.rows)(rows.start) - self.bytes(rows).start) / 4) as u32
    }
}

/// Maximum size of a binding of a render pass, in bytes; kernels may have larger ones.
pub(super) fn binding_bytes(world: &World) -> u64 {
    world.limits().binding_bytes.min(world.gpu().limits().wgpu.max_storage_buffer_binding_size)
}

/// Divides an image of `height` rows into bands, for bindings of at most `most` bytes.
///
/// # Errors
/// A row that exceeds a binding.
pub(super) fn bands(written: &[BandedOutput<'_>], height: u32, most: u64) -> Result<Vec<Range<u32>>, RenderError> {
    let needs = |rows: &Range<u32>| {
        let each = written.iter().map(|output| output.bytes(rows));
        each.map(|bytes| bytes.end - bytes.start).max().unwrap_or(0)
    };
    let (mut bands, mut start) = (Vec::new(), 0);
    while start < height {
        let mut band = start..start + 1;
        if needs(&band) > most {
            let message = format!(
                "row {start} of the picture needs {} bytes of surfaces, and a binding here has at most {most}; choose a \
                 smaller picture, or make surfaces opaque",
                needs(&band)
            );
            return Err(RenderError::Surface(message));
        }
        while band.end < height && needs(&(start..band.end + 1)) <= most {
            band.end += 1;
        }
        start = band.end;
        bands.push(band);
    }
    Ok(bands)
}
