//! One value in all cells of boxes.

use wgpu::MapMode;

use super::boxes::{Strided, Transfer, check_element, check_view};
use super::mapping::write_mapped;
use super::movers::Move;
use super::scatter::check_destinations;
use super::slices::Slice;
use super::{BoxOf, Device, host_copy};
use crate::error::DeviceError;
use crate::extents::Index;

impl Device {
    /// Sets every cell of the boxes to `element`, the bytes of one cell (1, 2 or a multiple of 4).
    ///
    /// Local. Recorded work comes first, later work sees the new cells. Cost: on host-mapped memory one pass by the host;
    /// elsewhere one dispatch for all boxes of a buffer and one submission. A warm repeat allocates nothing.
    ///
    /// # Errors
    /// A box that leaves its buffer, an element size that cannot be moved, or a failing device.
    pub fn fill(&self, element: &[u8], boxes: &[BoxOf]) -> Result<(), DeviceError> {
        check_element("fill", element.len())?;
        check_destinations("fill", boxes.iter().map(|one| &one.view))?;
        for one in boxes {
            check_view("fill", &one.view, element.len(), one.buffer.bytes())?;
        }
        self.check("fill")?;
        let filled = boxes.iter().filter(|one| one.view.cells() > 0);
        // A source whose cells are all the same one.
        let transfer = |view: &Strided| {
            let strides = Index::zeros(view.extents.axes());
            Transfer::new(&Strided { offset: 0, extents: view.extents, strides }, view)
        };
        if self.host_mapped() {
            for one in filled {
                let buffer = one.buffer.raw();
                let _mapped = self.map_many(&[(buffer, MapMode::Write)])?;
                write_mapped(buffer, 0..buffer.size(), |chunk| {
                    host_copy::copy(element, chunk, element.len(), &transfer(&one.view));
                })?;
            }
            return Ok(());
        }
        let slice = Slice { parts: Vec::new(), bytes: (element.len() as u64).next_multiple_of(16) };
        let packed = self.upload(&slice, element, true)?;
        let moves = filled.map(|one| {
            let (src, dst) = (&packed.on_device, one.buffer.raw());
            Move { src, dst, transfer: transfer(&one.view), base: [0, 0] }
        });
        self.record_moves(element.len(), moves)?;
        self.uploaded(packed)
    }
}
