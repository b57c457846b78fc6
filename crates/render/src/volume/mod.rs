//! Volume rendering by ray casting: camera, transfer function, samples on one global lattice, depth
//! order.
//!
//! Voxels are at the positions of the volume's [`Grid`](zippy::Grid); camera, clip planes and
//! surfaces are in the same space. The volume extends from the centre of the first voxel to that of
//! the last; values between voxels are interpolated trilinearly.
//!
//! The samples of a ray depend only on camera, volume and sample distance. Every sample belongs to
//! exactly one cell, and so to exactly one brick of a lattice that depends on the volume's shape
//! alone. Images therefore have the same bits for every decomposition ([`Mode::Reproducible`]).
//!
//! Where the transparency of a ray falls to a limit, opacity becomes exactly 1, and farther voxels
//! add exactly nothing. So a rank omits bricks that its own layers hide, without a message and with
//! the same bits. Samples are summed in blocks of 32 along the ray, which bounds rounding by the
//! number of blocks.

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
#[cfg(test)]
pub(crate) mod texts;
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
