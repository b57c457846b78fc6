//! Volume rendering: frames of scanned volumes, compositing alone, and weak scaling.

mod common;
mod reference;

mod volume {
    pub mod blending;
    pub mod frames;
    pub mod limit;
    pub mod subject;
}

use common::{Path, on_ranks};

pub fn main() -> zippy::Result<()> {
    let about = "Frames of 1024x1024 pixels of engine and bonsai (../shared/data; a phantom where they are missing) with \
                 samples one voxel apart, split into casting, compositing and the rest; compositing alone of 1024x1024 \
                 pictures, one a rank, dense and with 20 % of the pixels covered, beside binary swap and direct send written \
                 by hand (benches/reference/compositing.rs); weak scaling with 128^3 voxels a rank. Under cargo xtask bench \
                 --peers the runs of one rank have VTK's mappers beside the frames.";
    on_ranks("ranks_volume", about, &[Path::Mapped], |run| {
        volume::blending::measure(run)?;
        volume::frames::scans(run)?;
        volume::frames::weak(run)
    })
}
