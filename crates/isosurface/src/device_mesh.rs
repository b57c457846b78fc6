//! [`DeviceMesh`]: a distributed surface in device memory.

use zippy::array::Growable;
use zippy::error::CallSite;
use zippy::{Result, World};

/// A rank's part of a surface in arrays of its device.
/// [`Extractor::extract_on_device`](crate::Extractor::extract_on_device) fills the arrays
/// repeatedly; they grow and never shrink.
///
/// Vertices, triangles and the order of triangles equal those of [`Mesh`](crate::Mesh), but
/// vertices are not welded: a vertex on a border exists once per chunk that uses it, and has no
/// number in the whole mesh.
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
    /// Creates an empty mesh; its arrays are named `name` and a suffix. Local.
    ///
    /// # Errors
    /// The device has too little memory.
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

    /// Vertex positions, three numbers each: first the vertices on edges that begin at this rank's
    /// samples and inside its cells, then those on edges that begin at samples of other chunks.
    pub fn positions(&self) -> &Growable<f32> {
        &self.positions
    }

    /// Unit normals towards lower values, three numbers per vertex; zeros if the gradient is zero
    /// or NaN. `None` for an extractor without normals.
    pub fn normals(&self) -> Option<&Growable<f32>> {
        Some(&self.normals).filter(|_| self.has_normals)
    }

    /// Values of the requested field, one per vertex; `None` without a field.
    pub fn values(&self) -> Option<&Growable<f32>> {
        Some(&self.values).filter(|_| self.has_values)
    }

    /// Triangles of this rank, three vertex indices each, counterclockwise as seen from lower
    /// values.
    pub fn triangles(&self) -> &Growable<u32> {
        &self.triangles
    }

    /// Number of vertices on this rank.
    pub fn vertices(&self) -> u64 {
        self.positions.len() / 3
    }

    /// Number of this rank's own vertices, which come first.
    pub fn own_vertices(&self) -> u64 {
        self.own
    }

    /// Number of triangles on this rank.
    pub fn triangle_count(&self) -> u64 {
        self.triangles.len() / 3
    }

    pub(crate) fn clear(&mut self) {
        self.own = 0;
        (self.has_normals, self.has_values) = (false, false);
        for list in [&mut self.positions, &mut self.normals, &mut self.values] {
            list.clear();
        }
        self.triangles.clear();
    }
}
