//! The inside of a scan: where its values are large enough.

use std::ops::Range;

use zippy::{Error, Result, World};

use super::bits::{Draft, Solid, share};
use super::shape::{Placement, Shape};
use crate::error::FlowError;

/// Takes a plane of voxels and its number: see [`Voxels::read`].
pub type Take<'a> = dyn FnMut(i64, &[f32]) -> Result<()> + 'a;

/// A scan, of which those points are solid where the value, interpolated between voxels, is above one number and perhaps below
/// another one.
pub struct Voxels<'a> {
    /// Voxels along each axis.
    pub shape: [i64; 3],
    /// The distance of neighbouring voxels along each axis, in the unit of the shape. A voxel is a box around its value.
    pub spacing: [f64; 3],
    /// Solid is what is above this.
    pub above: f64,
    /// And not above this.
    pub below: Option<f64>,
    /// Hands over planes across axis 2, of these numbers, one after the other in their order: axis 0 is the fastest one in
    /// each. Local; each rank asks for those of its share.
    pub read: &'a dyn Fn(Range<i64>, &mut Take) -> Result<()>,
}

/// Two voxels along an axis, and the share of the second one.
#[derive(Debug, Clone, Copy)]
struct Between {
    first: i64,
    second: i64,
    share: f64,
}

impl Voxels<'_> {
    /// # Errors
    /// What cannot be.
    fn check(&self) -> std::result::Result<(), FlowError> {
        if let Some(&n) = self.shape.iter().find(|&&n| n < 1) {
            return Err(FlowError::Solid(format!("the scan has {n} voxels along an axis; it must have 1 at least")));
        }
        let wanted = "a finite number above 0";
        if let Some(&value) = self.spacing.iter().find(|&&x| !(x > 0.0 && x.is_finite())) {
            return Err(FlowError::Number { what: "the distance of the voxels of a scan", value, wanted });
        }
        if !self.above.is_finite() {
            return Err(FlowError::Number {
                what: "the value above which a scan is solid",
                value: self.above,
                wanted: "finite",
            });
        }
        match self.below {
            Some(below) if below.is_nan() || below <= self.above => Err(FlowError::Solid(format!(
                "solid is what is above {} and not above {below}: the second number must be larger than the first",
                self.above
            ))),
            _ => Ok(()),
        }
    }

    /// The voxels around a coordinate of the shape along an axis; beyond the outermost middles the value is that there.
    fn between(&self, axis: usize, at: f64) -> Between {
        let last = self.shape[axis] - 1;
        let at = (at / self.spacing[axis] - 0.5).clamp(0.0, last as f64);
        let first = (at.floor() as i64).min(last);
        let share = at - first as f64;
        Between { first, second: if share > 0.0 { (first + 1).min(last) } else { first }, share }
    }

    /// The share of this rank, with the least and the greatest value there.
    fn own(&self, planes: Range<i64>, placement: &Placement, cells: [[i64; 3]; 2]) -> Result<(Draft, [f64; 2])> {
        let ([start, count], bounds) = (cells, self.bounds());
        let mut draft = Draft::new(start, count)?;
        let mut values = [f64::INFINITY, f64::NEG_INFINITY];
        let along = |axis: usize, at: i64| {
            let mut place = start;
            place[axis] += at;
            self.between(axis, placement.at(&bounds, place)[axis])
        };
        let across: [Vec<Between>; 2] = [0, 1].map(|axis| (0..count[axis]).map(|at| along(axis, at)).collect());
        if planes.is_empty() {
            return Ok((draft, values));
        }
        let size = (self.shape[0] * self.shape[1]) as usize;
        let wanted = along(2, planes.start).first..along(2, planes.end - 1).second + 1;
        let (mut due, mut next) = (planes.map(|z| (z, along(2, z))).peekable(), wanted.start);
        let mut before: Vec<f32> = Vec::new();
        (self.read)(wanted.clone(), &mut |plane, voxels| {
            if plane != next || voxels.len() != size {
                let found = format!("plane {plane} of {} voxels", voxels.len());
                return Err(Error::program(format!("the scan gave {found} instead of plane {next} of {size}")));
            }
            next += 1;
            while let Some((z, between)) = due.next_if(|(_, between)| between.second <= plane) {
                let lower = if between.first < plane { &before[..] } else { voxels };
                for (y, row) in across[1].iter().enumerate() {
                    for (x, column) in across[0].iter().enumerate() {
                        let mix = |one: f64, other: f64, share: f64| one * (1.0 - share) + other * share;
                        let at = |plane: &[f32], y: i64, x: i64| f64::from(plane[(y * self.shape[0] + x) as usize]);
                        let line = |plane: &[f32], y: i64| {
                            mix(at(plane, y, column.first), at(plane, y, column.second), column.share)
                        };
                        let face = |plane: &[f32]| mix(line(plane, row.first), line(plane, row.second), row.share);
                        let value = mix(face(lower), face(voxels), between.share);
                        values = [values[0].min(value), values[1].max(value)];
                        if value > self.above && self.below.is_none_or(|below| value <= below) {
                            draft.set([x as i64, y as i64, z]);
                        }
                    }
                }
            }
            before.clear();
            before.extend_from_slice(voxels);
            Ok(())
        })?;
        match next == wanted.end {
            true => Ok((draft, values)),
            false => Err(Error::program(format!("the scan gave no plane {next} of {wanted:?}"))),
        }
    }
}

impl Shape for Voxels<'_> {
    fn bounds(&self) -> [[f64; 3]; 2] {
        [[0.0; 3], std::array::from_fn(|axis| self.shape[axis] as f64 * self.spacing[axis])]
    }

    fn solid(&self, world: &World, placement: &Placement, extents: [i64; 3]) -> Result<Solid> {
        self.check()?;
        let cells = placement.cells(&self.bounds(), extents)?;
        let own = self.own(share(world, cells[1][2]), placement, cells);
        let (draft, mut values) = world.agree("reading a scan", own)?;
        let solid = draft.shared(world)?;
        values[0] = -values[0];
        world.group().all_reduce(&mut values, |one, other| *one = one.max(*other))?;
        match solid.cells() {
            0 => Err(FlowError::Solid(format!(
                "no cell of the scan is solid: its values are from {} to {} there, and solid is what is above {}{}",
                -values[0],
                values[1],
                self.above,
                self.below.map_or(String::new(), |below| format!(" and not above {below}"))
            ))
            .into()),
            _ => Ok(solid),
        }
    }
}
