//! Extraction by kernels, for devices that are not the host: chunks stay where they are.
//!
//! The host knows which bricks a surface may cross, by the tree. Kernels look at these, all at once, and tell how much
//! there is in each: one read-back. The host turns counts into numbers, decides ambiguous cells, whose samples come with
//! the counts, and makes room for exactly what there is. Then kernels write vertices and triangles.

pub mod items;
pub mod looking;
pub mod making;
mod source;
mod table;

use std::cell::RefCell;
use std::rc::Rc;

use zippy::array::Growable;
use zippy::element::{Capabilities, ElementInfo};
use zippy::kernel::{Binding, Call};
use zippy::{Kernel, Layout, LocalArray, Result, World};

use crate::field::part::Part;
use crate::field::tree::{Extremes, Tree};

/// Indices and coordinates are whole numbers of `f32` up to here.
const MOST_SAMPLES: i64 = 1 << 24;

/// The kernels of an extractor, and what they work in.
pub struct Kernels {
    of_samples: RefCell<Vec<(&'static str, Rc<OfSamples>)>>,
    triangles: Kernel,
    shapes: LocalArray<u32, 1>,
    room: RefCell<Room>,
    /// What meshes are read back from.
    pub made: RefCell<Made>,
    /// What all ranks' adapters have.
    formats: Capabilities,
}

/// The kernels that see samples of one type.
struct OfSamples {
    tree: Kernel,
    inside: Kernel,
    vertices: Kernel,
    interior: Kernel,
}

/// Arrays that grow and are used again.
struct Room {
    items: Growable<[u32; 4]>,
    words: Growable<u32>,
    slots: Growable<u32>,
    found: Growable<u32>,
    starts: Growable<[u32; 4]>,
    ambiguous: Growable<u32>,
    inner: Growable<[u32; 4]>,
}

/// What of a mesh is on the device.
pub struct Made {
    pub along: Growable<f32>,
    pub places: Growable<f32>,
    pub triangles: Growable<u32>,
}

impl Kernels {
    /// Kernels for fields of this shape, unless the host sees the memory of some rank's device: there it is faster itself.
    /// Or the field is so long that its indices are no numbers of `f32`. Collective.
    ///
    /// # Errors
    /// A device fails.
    pub fn new(world: &World, shape: [i64; 3]) -> Result<Option<Self>> {
        let gpu = world.gpu();
        let own = Capabilities::from(gpu.features());
        let mut all = [!gpu.is_host(), own.f16].map(u64::from);
        world.group().all_reduce(&mut all, |all, other| *all = (*all).min(*other))?;
        if all[0] == 0 || shape.iter().any(|&extent| extent > MOST_SAMPLES) {
            return Ok(None);
        }
        let formats = Capabilities { f16: all[1] == 1, ..Capabilities::default() };
        world.failing("preparing isosurfaces", || Self::local(world, formats)).map(Some)
    }

    fn local(world: &World, formats: Capabilities) -> Result<Self> {
        let table = table::laid_out();
        let shapes = world.local_array("isosurface.shapes", &Layout::new([table.len() as i64]))?;
        shapes.all().write(&table)?;
        let room = Room {
            items: world.growable("isosurface.items")?,
            words: world.growable("isosurface.words")?,
            slots: world.growable("isosurface.slots")?,
            found: world.growable("isosurface.found")?,
            starts: world.growable("isosurface.starts")?,
            ambiguous: world.growable("isosurface.ambiguous")?,
            inner: world.growable("isosurface.inner")?,
        };
        let made = Made {
            along: world.growable("isosurface.along")?,
            places: world.growable("isosurface.places")?,
            triangles: world.growable("isosurface.triangles")?,
        };
        let triangles = world.kernel(source::triangles())?;
        Ok(Self {
            of_samples: RefCell::default(),
            triangles,
            shapes,
            room: RefCell::new(room),
            made: RefCell::new(made),
            formats,
        })
    }

    /// Whether kernels can read cells of this type on all ranks.
    pub fn read(&self, element: &ElementInfo) -> bool {
        element.supported_by(self.formats, "").is_ok()
    }

    fn of_samples(&self, world: &World, element: &'static ElementInfo) -> Result<Rc<OfSamples>> {
        let mut known = self.of_samples.borrow_mut();
        if let Some((_, found)) = known.iter().find(|(name, _)| *name == element.name) {
            return Ok(found.clone());
        }
        let made = Rc::new(OfSamples {
            tree: world.kernel(source::tree(element))?,
            inside: world.kernel(source::inside(element))?,
            vertices: world.kernel(source::vertices(element))?,
            interior: world.kernel(source::interior(element))?,
        });
        known.push((element.name, made.clone()));
        Ok(made)
    }

    /// The tree of a chunk with these samples.
    ///
    /// # Errors
    /// A device fails.
    pub fn tree(&self, world: &World, part: &Part, samples: Binding) -> Result<Tree> {
        let kernels = self.of_samples(world, samples.element)?;
        let bricks = part.brick_count();
        let found = &mut self.room.borrow_mut().found;
        found.set_len(2 * bricks as u64)?;
        let call = kernels.tree.call().read("samples", samples).write("extremes", found.all());
        with_part(call, part).over([bricks * LANES]).run()?;
        let keys = found.all().read()?;
        Ok(Tree::over(part, keys.as_chunks().0.iter().map(|&keys| Extremes::of_keys(keys)).collect()))
    }
}

/// Invocations of a workgroup.
const LANES: usize = 64;

fn with_part<'k>(call: Call<'k>, part: &Part) -> Call<'k> {
    let field = part.field();
    let small = |at: [i64; 3]| at.map(|at| at as i32);
    call.param("part.place", small(part.start))
        .param("part.own", small(part.own))
        .param("part.reach", small(part.reach))
        .param("part.own_bricks", small(part.own_bricks()))
        .param("part.bricks", small(part.bricks()))
        .param("part.first", small(field.start))
        .param("part.last", small(field.end.map(|end| end - 1)))
}
