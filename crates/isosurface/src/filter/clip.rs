//! Clip: the part of a field on one side of an isovalue.

use zippy::Result;
use zippy::error::CallSite;

use super::solid::{BrickSelection, Filter, KeptCells, solid};
use crate::error::IsosurfaceError;
use crate::extract::Extractor;
use crate::field::attribute::Attribute;
use crate::field::block::{Block, Samples};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::Extremes;
use crate::points::inside::Inside;
use crate::points::numbering::EVERYWHERE;
use crate::sample::Sample;
use crate::volume_mesh::VolumeMesh;

/// Side of an isovalue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Values that equal or exceed the isovalue.
    Above,
    /// Lower values, and NaN.
    Below,
}

impl<T: Sample> Extractor<'_, T> {
    /// Clips the volume to one side of an isovalue; the mesh has the values of the field, and then
    /// of `attributes`, at its points. Collective; on return every rank has its part.
    ///
    /// Grid cells with all corners on this side become hexahedra. Cells with corners on both sides
    /// are divided into six tetrahedra around the diagonal from the lowest to the highest corner;
    /// linear interpolation in a tetrahedron bounds its part on this side, which becomes
    /// tetrahedra. Hence the boundary is within O(h²) of the surface of [`extract`](Self::extract)
    /// but not equal to it, and both sides together fill the whole box. Between a hexahedron and a
    /// divided cell, two triangles share a quadrilateral.
    ///
    /// Samples that equal the isovalue are above and can yield cells without volume; NaN is below.
    ///
    /// # Errors
    /// As [`extract_with`](Self::extract_with).
    #[track_caller]
    pub fn clip(&self, isovalue: f32, side: Side, attributes: &[&dyn Attribute]) -> Result<VolumeMesh> {
        let _call = CallSite::enter();
        let checked = if isovalue.is_finite() { Ok(()) } else { Err(IsosurfaceError::Isovalue(isovalue).into()) };
        self.world().agree(&format!("clip({isovalue}, Side::{side:?})"), checked)?;
        solid(&self.view(), self.field().name(), &Clip { isovalue, side }, attributes)
    }
}

struct Clip {
    isovalue: f32,
    side: Side,
}

impl Filter for Clip {
    fn may_keep(&self, found: Extremes) -> bool {
        match self.side {
            Side::Above => found.largest >= self.isovalue,
            Side::Below => found.least < self.isovalue,
        }
    }

    fn keep(&self, at: [i64; 3], part: &BrickedChunk, samples: &dyn Samples, block: &mut Block) -> BrickSelection {
        let own = part.samples(at);
        let all = part.with_next(&own);
        samples.load(part.in_memory(&own).start, part.in_memory(&all), block);
        let above = Inside::new(block, &own, &all, self.isovalue);
        let inside = if self.side == Side::Above { above } else { above.reversed() };
        let mut points = inside.crossed(EVERYWHERE);
        points[0] = inside.samples();
        BrickSelection { points, cells: KeptCells { whole: inside.whole_cells(), inside: Some(inside) } }
    }

    fn isovalue(&self) -> f32 {
        self.isovalue
    }
}
