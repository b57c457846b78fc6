//! The part of a field on one side of an isovalue.

use zippy::Result;
use zippy::error::CallSite;

use super::solid::{Filter, Kept, KeptCells, solid};
use crate::error::IsosurfaceError;
use crate::extract::Extractor;
use crate::field::attribute::Attribute;
use crate::field::block::{Block, Samples};
use crate::field::part::Part;
use crate::field::tree::Extremes;
use crate::points::inside::Inside;
use crate::points::numbering::EVERYWHERE;
use crate::sample::Sample;
use crate::volume_mesh::VolumeMesh;

/// A side of an isovalue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where values are not below it.
    Above,
    /// Where they are, or are no numbers.
    Below,
}

impl<T: Sample> Extractor<'_, T> {
    /// The part of the volume on one side of an isovalue, with the values of the field, and then of further ones, at its
    /// points. Collective; on return every rank has its part.
    ///
    /// Cells of the grid whose corners are all on this side are hexahedra. Those that have corners on both are cut into six
    /// tetrahedra around the diagonal from their lowest to their highest corner, in which the field is taken to be linear,
    /// and their parts on this side are kept, as tetrahedra. So the boundary is within O(h²) of the
    /// isosurface that [`extract`](Self::extract) gives, and not the same; both sides together are the whole box. Where a
    /// hexahedron is beside a cell that is cut, two triangles meet a quadrilateral.
    ///
    /// A sample that equals the isovalue is above it, one that is no number below, as for surfaces. Where samples equal
    /// the isovalue, cells without volume may be among the others.
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
    fn wants(&self, found: Extremes) -> bool {
        match self.side {
            Side::Above => found.largest >= self.isovalue,
            Side::Below => found.least < self.isovalue,
        }
    }

    fn keep(&self, at: [i64; 3], part: &Part, samples: &dyn Samples, block: &mut Block) -> Kept {
        let own = part.samples(at);
        let all = part.with_next(&own);
        samples.load(part.in_memory(&own).start, part.in_memory(&all), block);
        let above = Inside::new(block, &own, &all, self.isovalue);
        let inside = if self.side == Side::Above { above } else { above.reversed() };
        let mut points = inside.crossed(EVERYWHERE);
        points[0] = inside.samples();
        Kept { points, cells: KeptCells { whole: inside.whole_cells(), inside: Some(inside) } }
    }

    fn isovalue(&self) -> f32 {
        self.isovalue
    }
}
