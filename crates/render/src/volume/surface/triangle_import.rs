//! [`TriangleImport`]: imports triangles from arrays on the device, without a copy to the host.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use zippy::array::Growable;
use zippy::kernel::{Kernel, KernelSource, WgslComposer};
use zippy::{Result, World, wgsl_module};

use super::device_triangles::DeviceTriangles;
use super::distribute::{BEYOND, Bricks, DrawList};
use super::triangles::{CORNER_WORDS, Corner, wrong_normal, wrong_position, wrong_triangle};
use crate::error::RenderError;
use crate::volume::bricks::CellBox;

/// Index in `found` of the number of listed triangles.
const LISTED: usize = 0;
/// Index in `found` of the number of triangles outside of the volume.
const OUTSIDE: usize = 1;
/// Index in `found` of the first vertex with an invalid position.
const WRONG_POSITION: usize = 2;
/// Index in `found` of the first vertex with an invalid normal.
const WRONG_NORMAL: usize = 3;
/// Index in `found` of the first triangle with a vertex index out of range.
const WRONG_TRIANGLE: usize = 4;
/// Index in `found` of the first box, which has [`EMPTY`]`.len()` words.
const BOXES: usize = 5;

/// Index of bricks of other ranks, and of "no invalid item".
const NONE: u32 = u32::MAX;

/// Empty box.
const EMPTY: [u32; 6] = [u32::MAX, u32::MAX, u32::MAX, 0, 0, 0];

/// Words of a listed triangle: three vertex indices and three corners.
const LISTED_WORDS: usize = 3 + 3 * CORNER_WORDS;

/// Initial capacity of the list, in triangles.
const FIRST_LISTED: u64 = 1024;

pub(in crate::volume) struct TriangleImport {
    corner: Kernel,
    reached: Kernel,
    numbers: Growable<u32>,
    found: Growable<u32>,
    listed: Growable<u32>,
}

/// Host data about imported triangles.
pub(super) struct ImportedTriangles {
    /// Cells of each of this rank's bricks that the triangles may cross.
    pub reached: BTreeMap<usize, CellBox>,
    /// Triangles that may cross bricks of other ranks, or very many bricks.
    pub listed: DrawList,
    /// Number of triangles outside of the volume.
    pub outside: u64,
}

/// The text of the kernel that writes the corners of triangles.
pub(in crate::volume) fn corner_kernel() -> WgslComposer {
    WgslComposer::new()
        .constant("CORNER_WORDS", CORNER_WORDS as i32)
        .constant("WRONG_POSITION", WRONG_POSITION as i32)
        .constant("WRONG_NORMAL", WRONG_NORMAL as i32)
        .constant("MOST", f32::MAX)
        .constant("BEYOND", BEYOND as f32)
        .module(wgsl_module!("../../../shaders/surface/corner.wgsl"))
}

/// The text of the kernel that locates triangles.
pub(in crate::volume) fn reached_kernel() -> WgslComposer {
    WgslComposer::new()
        .constant("LISTED", LISTED as i32)
        .constant("OUTSIDE", OUTSIDE as i32)
        .constant("WRONG_TRIANGLE", WRONG_TRIANGLE as i32)
        .constant("BOXES", BOXES as i32)
        .constant("NONE", NONE)
        .constant("CORNER_WORDS", CORNER_WORDS as i32)
        .constant("LISTED_WORDS", LISTED_WORDS as i32)
        .module(wgsl_module!("../../../shaders/surface/reached.wgsl"))
}

impl TriangleImport {
    /// Compiles the kernels and creates empty arrays. Local.
    pub(crate) fn new(world: &World, name: &str) -> Result<Self> {
        let (corner, reached) = (corner_kernel().compose()?, reached_kernel().compose()?);
        Ok(Self {
            corner: world.kernel(KernelSource::text("shaders/surface/corner.wgsl", corner))?,
            reached: world.kernel(KernelSource::text("shaders/surface/reached.wgsl", reached))?,
            numbers: world.growable(&format!("{name}.numbers"))?,
            found: world.growable(&format!("{name}.found"))?,
            listed: world.growable(&format!("{name}.listed"))?,
        })
    }

    /// Writes the corners and the draw order of this rank's triangles. Local; reads back their
    /// reach and the listed triangles.
    ///
    /// # Errors
    /// A number that is not finite, a vertex index out of range, or no memory.
    pub(super) fn take(
        &mut self,
        world: &World,
        bricks: &Bricks,
        source: &DeviceTriangles<'_>,
        (corners, order): (&mut Growable<f32>, &mut Growable<u32>),
    ) -> Result<ImportedTriangles> {
        let own: Vec<usize> = (0..bricks.ranks.len()).filter(|&brick| bricks.ranks[brick] == world.rank()).collect();
        let mut found = vec![NONE; BOXES];
        (found[LISTED], found[OUTSIDE]) = (0, 0);
        found.extend(own.iter().flat_map(|_| EMPTY));
        let (bytes, most) = (4 * found.len() as u64, world.limits().binding_bytes);
        if bytes > most {
            let message = format!("boxes of {} bricks need {bytes} bytes; a binding has at most {most}", own.len());
            return Err(RenderError::Surface(message).into());
        }
        self.found.clear();
        self.found.append(&found)?;
        let mut numbers = vec![NONE; bricks.ranks.len()];
        own.iter().enumerate().for_each(|(number, &brick)| numbers[brick] = number as u32);
        self.numbers.clear();
        self.numbers.append(&numbers)?;
        self.write_corners(bricks, source, corners)?;
        order.set_len(3 * source.count())?;
        let room = (self.listed.capacity() / LISTED_WORDS as u64).max(FIRST_LISTED).min(max_listed(world));
        self.listed.set_len(room * LISTED_WORDS as u64)?;
        let (found, listed, outside) = self.locate(world, bricks, source, (corners, order))?;
        let boxes = own.into_iter().zip(found[BOXES..].as_chunks::<6>().0).filter(|(_, cells)| **cells != EMPTY);
        let cells = |cells: &[u32; 6]| cells.map(|cell| cell as i32);
        let cells = boxes.map(|(brick, found)| {
            let [x, y, z, to_x, to_y, to_z] = cells(found);
            (brick, ([x, y, z], [to_x, to_y, to_z]))
        });
        Ok(ImportedTriangles { reached: cells.collect(), listed, outside })
    }

    fn write_corners(&self, bricks: &Bricks, source: &DeviceTriangles<'_>, corners: &mut Growable<f32>) -> Result<()> {
        corners.set_len(CORNER_WORDS as u64 * source.vertices())?;
        let (single, to_voxels) = (|vector: [f64; 3]| vector.map(|part| part as f32), bricks.to_voxels());
        let call = self.corner.call().read("positions", source.positions.all());
        let call = call.read("normals", source.normals.unwrap_or(source.positions).all());
        let call = call.read("values", source.values.unwrap_or(source.positions).all());
        let call = call.write("corners", corners.all()).update("found", self.found.all());
        let call = call.param("vertices.origin", single(to_voxels.origin));
        let call = call.param("vertices.origin_remainder", single(to_voxels.origin_remainder));
        let call = call.param("vertices.to_voxels", to_voxels.columns.map(single));
        let call = call.param("vertices.has_normals", u32::from(source.normals.is_some()));
        let call = call.param("vertices.has_values", u32::from(source.values.is_some()));
        call.over([source.vertices()]).run()
    }

    /// Locates all triangles; returns the content of `found`, the listed triangles with each vertex
    /// once, and the number of outside triangles. Each dispatch processes at most as many triangles
    /// as the list can hold.
    fn locate(
        &mut self,
        world: &World,
        bricks: &Bricks,
        source: &DeviceTriangles<'_>,
        (corners, order): (&Growable<f32>, &Growable<u32>),
    ) -> Result<(Vec<u32>, DrawList, u64)> {
        let (mut drawn, mut known) = (DrawList::default(), HashMap::new());
        let (mut first, mut outside) = (0, 0);
        loop {
            let end = source.count().min(first + max_listed(world));
            let found = self.locate_range(bricks, source, first..end, (corners, order))?;
            check(&found, source)?;
            let (count, room) = (u64::from(found[LISTED]), self.listed.len() / LISTED_WORDS as u64);
            if count > room {
                // Must not be read if it was not written.
                self.listed.clear();
                self.listed.set_len(count * LISTED_WORDS as u64)?;
                continue;
            }
            outside += u64::from(found[OUTSIDE]);
            if count > 0 {
                self.add_listed(count, &mut drawn, &mut known)?;
            }
            if end == source.count() {
                return Ok((found, drawn, outside));
            }
            first = end;
        }
    }

    /// Locates a range of triangles and returns the content of `found`. The counts of listed and
    /// outside triangles restart at zero.
    fn locate_range(
        &self,
        bricks: &Bricks,
        source: &DeviceTriangles<'_>,
        triangles: Range<u64>,
        (corners, order): (&Growable<f32>, &Growable<u32>),
    ) -> Result<Vec<u32>> {
        let (lattice, room) = (&bricks.lattice, self.listed.len() / LISTED_WORDS as u64);
        self.found.at(0..2).write(&[0, 0])?;
        let call = self.reached.call().read("corners", corners.all()).read("triangles", source.triangles.all());
        let call = call.read("numbers", self.numbers.all()).write("order", order.all());
        let call = call.update("found", self.found.all()).write("listed", self.listed.all());
        let call = call.param("reach.margin", bricks.margin()).param("reach.side", lattice.side());
        let call = call.param("reach.cells", lattice.cell_counts()).param("reach.vertices", source.vertices() as u32);
        let call = call.param("reach.bricks", lattice.counts()).param("reach.most", room as u32);
        call.param("reach.first", triangles.start as i32).over([triangles.end - triangles.start]).run()?;
        self.found.all().read()
    }

    fn add_listed(&self, count: u64, drawn: &mut DrawList, known: &mut HashMap<u32, u32>) -> Result<()> {
        for words in self.listed.at(0..count * LISTED_WORDS as u64).read()?.as_chunks::<LISTED_WORDS>().0 {
            let (vertices, corners) = words.split_at(3);
            for (vertex, corner) in vertices.iter().zip(corners.as_chunks::<CORNER_WORDS>().0) {
                let index = *known.entry(*vertex).or_insert(drawn.corners.len() as u32);
                if index as usize == drawn.corners.len() {
                    drawn.corners.push(bytemuck::cast::<[u32; CORNER_WORDS], Corner>(*corner));
                }
                drawn.order.push(index);
            }
        }
        Ok(())
    }
}

/// Maximum number of listed triangles that a buffer holds.
fn max_listed(world: &World) -> u64 {
    world.limits().buffer_bytes / 4 / LISTED_WORDS as u64
}

/// Reports the first invalid item of each kind, with its value read back.
fn check(found: &[u32], source: &DeviceTriangles<'_>) -> Result<()> {
    let three = |source: &Growable<f32>, number: u32| -> Result<[f32; 3]> {
        let first = 3 * u64::from(number);
        let read = source.at(first..first + 3).read()?;
        Ok([read[0], read[1], read[2]])
    };
    let first_wrong = |index: usize| Some(found[index]).filter(|&number| number != NONE);
    let [position, normal, triangle] = [WRONG_POSITION, WRONG_NORMAL, WRONG_TRIANGLE].map(first_wrong);
    if let Some(number) = position {
        return Err(wrong_position(number as usize, three(source.positions, number)?).into());
    }
    if let (Some(number), Some(normals)) = (normal, source.normals) {
        return Err(wrong_normal(number as usize, three(normals, number)?).into());
    }
    if let Some(number) = triangle {
        let first = 3 * u64::from(number);
        let read = source.triangles.at(first..first + 3).read()?;
        return Err(wrong_triangle(number as usize, [read[0], read[1], read[2]], source.vertices()).into());
    }
    Ok(())
}
