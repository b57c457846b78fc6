//! Volume rendering: frames of scanned volumes, compositing alone, and weak scaling.

mod common;
mod reference;

mod volume {
    pub(crate) mod blending;
    pub(crate) mod frames;
    pub(crate) mod limit;
    pub(crate) mod subject;
}

use common::{ChunkAccess, on_ranks};

pub(crate) fn main() -> zippy::Result<()> {
    let about = "Frames of 1024x1024 pixels of the scans engine and bonsai (../shared/data; a phantom if they are missing) \
                 with a sampling distance of one voxel, divided into casting, compositing and the rest. Compositing alone \
                 of one 1024x1024 picture per rank, dense and with 20 % of the pixels covered, compared with hand-written \
                 binary swap and direct send (benches/reference/compositing.rs). Weak scaling with 128^3 voxels per rank. \
                 With cargo xtask bench --peers, runs with one rank are also compared with VTK's volume mappers.";
    on_ranks("ranks_volume", about, &[ChunkAccess::Mapped], |run| {
        volume::blending::measure(run)?;
        volume::frames::scans(run)?;
        volume::frames::weak(run)
    })
}
