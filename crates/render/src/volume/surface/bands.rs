//! Bands of rows of a picture, of which bindings hold all that is written.

use std::ops::Range;

use zippy::{World, wgpu};

use crate::error::RenderError;

/// Bindings begin at multiples of this many bytes, which suit every device.
const ALIGNMENT: u64 = 256;

/// An array of the picture that is written, of which a band of rows is bound.
pub(super) struct Written<'a> {
    pub binding: u32,
    pub buffer: &'a wgpu::Buffer,
    /// The byte at which a row begins; of the one behind the last row, where that ends.
    pub rows: &'a dyn Fn(u32) -> u64,
}

impl Written<'_> {
    /// What is bound for a band.
    pub fn bytes(&self, rows: &Range<u32>) -> Range<u64> {
        let (start, end) = ((self.rows)(rows.start), (self.rows)(rows.end));
        let start = start.min(self.buffer.size() - 4) / ALIGNMENT * ALIGNMENT;
        start..end.max(start + 4)
    }

    /// Words of it before the first one of the band.
    pub fn words_before(&self, rows: &Range<u32>) -> u32 {
        (((self.rows)(rows.start) - self.bytes(rows).start) / 4) as u32
    }
}

/// Bytes of a buffer that a drawing pass can see; native kernels can see more.
pub(super) fn binding_bytes(world: &World) -> u64 {
    world.binding_bytes().min(world.gpu().limits().wgpu.max_storage_buffer_binding_size)
}

/// The bands of a picture of so many rows, where a binding has at most `most` bytes.
///
/// # Errors
/// A row of which a binding does not hold everything.
pub(super) fn bands(written: &[Written], height: u32, most: u64) -> Result<Vec<Range<u32>>, RenderError> {
    let needs = |rows: &Range<u32>| {
        let each = written.iter().map(|one| one.bytes(rows));
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
