//! Volume rendering by ray casting: camera, transfer function, samples on one global lattice, depth
//! order.
//!
//! The voxels of a volume stand at the positions of its [`Grid`](zippy::Grid); camera, clip planes
//! and surfaces are in the same space. The volume reaches from the first voxel's centre to the last
//! one's along each axis; between voxels values are interpolated trilinearly. Samples lie on one
//! lattice along each ray that depends on camera, volume and sample distance only, and every sample
//! belongs to exactly one cell and so to exactly one brick of a lattice that is a function of the
//! volume's shape alone. Pictures are therefore the same bits for every decomposition
//! ([`Mode::Reproducible`]).
//!
//! Where the transparency of a ray falls to a limit, the opacity becomes exactly 1, and voxels
//! behind add exactly nothing. So a rank leaves out bricks that its own layers hide, without a
//! message and with the same bits. Samples are summed in blocks of 32 of the lattice along the ray,
//! since rounding then grows with the number of blocks.

mod bricks;
mod camera;
mod cells;
mod classes;
mod decay;
mod distribution;
mod framebuffer;
mod integrals;
mod kernels;
mod labels;
mod layers;
mod look;
mod march;
mod options;
mod order;
mod phantom;
mod presets;
mod renderer;
mod rescale;
mod shading;
mod space;
mod storage;
mod surface;
#[cfg(test)]
mod test_grids;
mod transfer;
mod view;

pub use camera::{Camera, Projection};
pub use distribution::{Distribution, FAR, Values, Voxel};
pub use look::{ClipPlane, Crop, Interpolation, Look, Mode, PixelFormat, Shading};
pub use march::Twin;
pub use options::RendererOptions;
pub use phantom::Phantom;
pub use presets::Preset;
pub use renderer::{Frame, VolumeRenderer};
pub use rescale::Rescale;
pub use space::Rebuilds;
pub use surface::{Colouring, DeviceTriangles, Material, Surface, Triangles};
pub use transfer::{TransferFunction, TransferTable};
pub use view::{Ray, View};
