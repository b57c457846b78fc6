//! [`DeviceMesh`]: a surface that is spread over the ranks and stays on their devices.

use zippy::array::Growable;
use zippy::error::CallSite;
use zippy::{Result, World};

/// A rank's part of a surface in arrays of its device, to be drawn or computed with there: what
/// [`Extractor::extract_on_device`](crate::Extractor::extract_on_device) fills, again and again. Arrays grow and never shrink.
///
/// Vertices and triangles are those of [`Mesh`](crate::Mesh), triangles in the same order, but nothing is welded: a vertex on
/// a border between chunks is there once for each chunk that uses it, and has no number in a whole mesh.
#[derive(Debug)]
pub struct DeviceMesh {
    pub(crate) positions: Growable<f32>,
    pub(crate) normals: Growable<f32>,
    pub(crate) values: Growable<f32>,
    pub(crate) triangles: Growable<u32>,
    pub(crate) own: u64,
    pub(crate) has_normals: bool,
    pub(crate) has_values: bool,
}

impl DeviceMesh {
    /// One without triangles. Its arrays are called `name` and a suffix. Local.
    ///
    /// # Errors
    /// The device has not enough memory.
    #[track_caller]
    pub fn new(world: &World, name: &str) -> Result<Self> {
        let _call = CallSite::enter();
        Ok(Self {
            positions: world.growable(&format!("{name}.positions"))?,
            normals: world.growable(&format!("{name}.normals"))?,
            values: world.growable(&format!("{name}.values"))?,
            triangles: world.growable(&format!("{name}.triangles"))?,
            own: 0,
            has_normals: false,
            has_values: false,
        })
    }

    /// Where its vertices stand, three numbers each: first those on edges that begin at this rank's samples, and inside its
    /// cells, then those that begin at other chunks' samples.
    pub fn positions(&self) -> &Growable<f32> {
        &self.positions
    }

    /// Unit vectors towards lower values, three numbers a vertex, and zeros where the gradient is zero or no number; `None` of
    /// an extractor without normals.
    pub fn normals(&self) -> Option<&Growable<f32>> {
        Some(&self.normals).filter(|_| self.has_normals)
    }

    /// Values of a further field, one a vertex; `None` where none was asked for.
    pub fn values(&self) -> Option<&Growable<f32>> {
        Some(&self.values).filter(|_| self.has_values)
    }

    /// The triangles of this rank, three vertices each, counterclockwise as seen from where values are lower.
    pub fn triangles(&self) -> &Growable<u32> {
        &self.triangles
    }

    /// How many vertices are here.
    pub fn vertices(&self) -> u64 {
        self.positions.len() / 3
    }

    /// How many of them are this rank's own: the first ones.
    pub fn own_vertices(&self) -> u64 {
        self.own
    }

    /// How many triangles are here.
    pub fn triangle_count(&self) -> u64 {
        self.triangles.len() / 3
    }

    /// Leaves nothing in it.
    pub(crate) fn clear(&mut self) {
        self.own = 0;
        (self.has_normals, self.has_values) = (false, false);
        for list in [&mut self.positions, &mut self.normals, &mut self.values] {
            list.clear();
        }
        self.triangles.clear();
    }
}
