//! Planar sections of a field.
//!
//! A section is the isosurface at zero of distances from the plane. Monotonic operations compute
//! the distances, so the extremes of a box of samples are at its corners. Distances within rounding
//! of `f64` count as zero. If a side of the box then lies in the plane and no sample beyond it,
//! both sides of the plane are exchanged: otherwise the section would be empty.

use std::cell::Cell;
use std::ops::Range;

use zippy::array::ChunkRef;
use zippy::chunks::ChunkId;
use zippy::error::CallSite;
use zippy::{GlobalArray, Grid, Result, World};

use crate::cell;
use crate::error::IsosurfaceError;
use crate::extract::surfaces::surfaces;
use crate::field::attribute::{Attribute, Fitted};
use crate::field::block::{Block, Samples, Span};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::{Bricks, Extremes, LayerSelector};
use crate::field::view::View;
use crate::grid::SampleFrame;
use crate::mesh::Mesh;
use crate::sample::Sample;

/// Plane in space: all points whose scalar product with the normal equals the offset. The normal
/// may have any length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Normal of the plane.
    pub normal: [f64; 3],
    /// Distance from the origin, in lengths of the normal.
    pub offset: f64,
}

/// Computes the section of a plane and the box of a field's samples: triangles, counterclockwise as
/// seen from the tip of the normal, with the values of the field, and then of `attributes`, at
/// their vertices. Collective; on return every rank has its part. Arrays without a ghost cell after
/// each chunk along cut axes are copied at each call.
///
/// Samples in the plane, within rounding of `f64`, count as on the side opposite to the normal.
/// Hence a plane through samples has one layer of triangles, some possibly without area.
///
/// ```
/// # use zippy::{Layout, Split, World};
/// use zippy_isosurface::{Grid, Plane, cut, statistics};
/// # fn program(world: &World) -> zippy::Result<()> {
/// let field = world.array::<f32, 3>("field", &Layout::new([9, 9, 9]).split_all(Split::Auto))?;
/// field.fill_with(|[x, y, z]| (x + y * z) as f32)?;
/// let plane = Plane { normal: [0.0, 0.0, 1.0], offset: 3.5 };
/// let mesh = cut(world, &field, Grid::default(), plane, &[])?;
/// assert_eq!(statistics(world, &mesh)?.area, 64.0);
/// # Ok(()) }
/// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
/// ```
///
/// # Errors
/// A normal of zero; numbers that are not finite; a grid without distinct positions of the samples;
/// a rank with 2^32 vertices or more, including ghosts; an array of another shape; a transfer or a
/// device fails.
#[track_caller]
pub fn cut<T: Sample>(
    world: &World,
    field: &GlobalArray<T, 3>,
    grid: Grid,
    plane: Plane,
    attributes: &[&dyn Attribute],
) -> Result<Mesh> {
    let _call = CallSite::enter();
    let made = SampleFrame::new(&grid, field.shape()).and_then(|frame| {
        let (distances, reversed) = Distances::new(&plane, &frame, field.shape())?;
        Ok((frame, distances, reversed))
    });
    let call = format!("cut({:?} on {grid:?}, by {plane:?})", field.name());
    let (grid, distances, reversed) = world.agree(&call, made.map_err(Into::into))?;
    cell::table();
    let part = |chunk: ChunkRef<T, 3>| {
        let part = BrickedChunk::new(&chunk.region(), &chunk.region(), field.shape());
        (chunk.id(), Section { distances, part })
    };
    let sections: Vec<_> = field.chunks().filter(|chunk| !chunk.region().is_empty()).map(part).collect();
    let view = View {
        world,
        placement: field.core().placement(),
        chunks: sections.iter().map(|(chunk, one)| (*chunk, &one.part, one as &dyn Bricks)).collect(),
        samples: &Sections(&sections),
        kernels: None,
        grid: &grid,
        normals: false,
        mirrored: grid.is_mirrored() != reversed,
        computed: Cell::default(),
        used: Cell::default(),
    };
    let all: Vec<&dyn Attribute> = std::iter::once(field as &dyn Attribute).chain(attributes.iter().copied()).collect();
    Ok(surfaces(&view, &[0.0], &all)?.remove(0))
}

/// Signed distances of samples from a plane, positive on the side opposite to the normal, relative
/// to the farthest sample.
#[derive(Clone, Copy)]
struct Distances {
    first: f64,
    steps: [f64; 3],
    /// Rounding threshold; smaller distances count as zero.
    least: f64,
}

impl Distances {
    /// Computes the distances; also returns true if the sides are exchanged (see the module).
    fn new(plane: &Plane, grid: &SampleFrame, shape: [i64; 3]) -> std::result::Result<(Self, bool), IsosurfaceError> {
        let [a, b, c] = plane.normal;
        let most = plane.normal.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if ![a, b, c, plane.offset].iter().all(|x| x.is_finite()) || most == 0.0 {
            return Err(IsosurfaceError::Plane([a, b, c, plane.offset]));
        }
        let normal = plane.normal.map(|x| x / most);
        let along = |vector: [f64; 3]| -(0..3).map(|row| normal[row] * vector[row]).sum::<f64>();
        let (first, steps) = (plane.offset / most + along(grid.origin), grid.steps.map(along));
        let last = shape.map(|count| (count - 1).max(0));
        let corners = (0..8).map(|corner| std::array::from_fn(|axis| (corner >> axis & 1) * last[axis]));
        let corners: Vec<[i64; 3]> = corners.collect();
        let exact = Self { first, steps, least: 0.0 };
        let farthest = corners.iter().map(|&at| exact.at(at).abs()).fold(0.0, f64::max);
        let lengths = (0..3).flat_map(|row| grid.steps.map(|step| (step[row], row)).into_iter().zip(last));
        let reach = lengths.map(|((step, row), last)| (normal[row] * step).abs() * last as f64).sum::<f64>();
        let origin = (0..3).map(|row| (normal[row] * grid.origin[row]).abs()).sum::<f64>();
        let least = (reach + origin + (plane.offset / most).abs()) * f64::EPSILON * 16.0;
        let found = Self { first, steps, least };
        let values: Vec<f64> = corners.iter().map(|&at| found.at(at)).collect();
        let (is_near, is_far) = (values.iter().any(|&x| x > 0.0), values.iter().any(|&x| x < 0.0));
        // A side of the box, or a degenerate section without area.
        let on_a_side = values.iter().filter(|&&x| x == 0.0).count() >= 4;
        if !farthest.is_finite() || !least.is_finite() || !(is_near && is_far || on_a_side) {
            return Ok((Self { first: -1.0, steps: [0.0; 3], least: 0.0 }, false));
        }
        let reversed = !is_far;
        let scale = if reversed { -farthest } else { farthest };
        Ok((Self { first: first / scale, steps: steps.map(|step| step / scale), least: least / farthest }, reversed))
    }

    /// Distance of a sample. Each operation is monotonic: a box has its extremes at corners.
    fn at(&self, [x, y, z]: [i64; 3]) -> f64 {
        let [a, b, c] = self.steps;
        let distance = a * x as f64 + b * y as f64 + c * z as f64 + self.first;
        if distance.abs() <= self.least { 0.0 } else { distance }
    }
}

/// Distances in a chunk.
struct Section {
    distances: Distances,
    part: BrickedChunk,
}

impl Section {
    /// Extremes of a box, whose positions count from the chunk's first own sample.
    fn extremes(&self, span: &Span) -> Extremes {
        (0..8).fold(Extremes::NONE, |found, corner| {
            let at = [0, 1, 2].map(|axis| if corner >> axis & 1 == 1 { span.end[axis] - 1 } else { span.start[axis] });
            let value = self.distances.at([0, 1, 2].map(|axis| self.part.start[axis] + at[axis])) as f32;
            Extremes { least: found.least.min(value), largest: found.largest.max(value) }
        })
    }
}

impl Bricks for Section {
    fn visit(&self, wanted: LayerSelector<'_>, found: &mut dyn FnMut([i64; 3], Range<usize>)) {
        let [x, y, z] = self.part.bricks();
        let span = |at: [i64; 3]| self.part.with_next(&self.part.samples(at));
        for (j, k) in (0..z).flat_map(|k| (0..y).map(move |j| (j, k))) {
            let (first, last) = (span([0, j, k]), span([x - 1, j, k]));
            if wanted(self.extremes(&Span { start: first.start, end: last.end })).is_empty() {
                continue;
            }
            for at in (0..x).map(|i| [i, j, k]) {
                let range = wanted(self.extremes(&span(at)));
                if !range.is_empty() {
                    found(at, range);
                }
            }
        }
    }
}

impl Samples for Section {
    fn load(&self, first: [i64; 3], span: Span, block: &mut Block) {
        block.fill(first, span, |start, row| {
            for (x, value) in (0..).zip(row) {
                let at = [start[0] + x, start[1], start[2]];
                let at = [0, 1, 2].map(|axis| self.part.start[axis] + self.part.storage[axis] + at[axis]);
                *value = self.distances.at(at) as f32;
            }
        });
    }
}

struct Sections<'a>(&'a [(ChunkId, Section)]);

impl Fitted for Sections<'_> {
    fn samples(&self, chunk: ChunkId, f: &mut dyn FnMut(&BrickedChunk, &dyn Samples)) -> Result<()> {
        if let Some((_, section)) = self.0.iter().find(|(own, _)| *own == chunk) {
            f(&section.part, section);
        }
        Ok(())
    }
}
