//! Loads a scan into a global array and saves the array as a Zarr store: `cargo run -p zippy-store
//! --example files -- SCAN.nrrd STORE.zarr`, with `ZIPPY_RANKS=4` or under an MPI launcher for more
//! ranks. zarr-python, xarray and napari open the store. Without arguments the example creates a
//! scan itself.

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../../examples/support/say.rs"]
mod say;

use zippy::{Error, Layout, Result, Split, World};
use zippy_io::array::{Axis, Metadata};
use zippy_io::volume;
use zippy_store::array::{SaveOptions, save, save_with};

use say::say;

fn program(world: &World, scan: &str, store: &str) -> Result<()> {
    let scan = world.agree("opening the scan", volume::open(scan).map_err(Error::from))?;
    let (&[x, y, z], 1) = (&scan.shape()[..], scan.components()) else {
        return Err(Error::program("a scan with three axes and one number a voxel is wanted"));
    };
    let density = world.array::<f32, 3>("density", &Layout::new([x, y, z]).split_all(Split::Auto))?;
    let read = density.chunks().try_for_each(|chunk| chunk.all().write(&scan.read_region_f32(&chunk.region())?));
    world.agree("reading the scan", read)?;

    let mean = world.sum(density.at(..))? / (x * y * z) as f64;
    let (low, high) = world.extremes(density.at(..))?.map_or((0.0, 0.0), |found| (found.min, found.max));
    let axes = ["x", "y", "z"].map(|name| Axis { name: Some(name.into()), ..Axis::default() }).to_vec();
    let metadata = Metadata { axes, ..Metadata::default() }.with_grid(&scan.grid());
    let options = SaveOptions::new().metadata(metadata);
    let bytes = save_with(world, store, density.at(..), &options)?;
    if world.rank() == 0 {
        say(format_args!(
            "{x} x {y} x {z} voxels from {low} to {high}, {mean:.3} in the mean; {bytes} bytes in {store}"
        ))?;
    }
    Ok(())
}

/// Writes a scan of a ball.
fn ball(world: &World, path: &str) -> Result<()> {
    let ball = world.array::<u8, 3>("ball", &Layout::new([40, 30, 20]).split_all(Split::Auto))?;
    ball.fill_with(|[x, y, z]| {
        u8::try_from((x - 20).pow(2) + (y - 15).pow(2) + (z - 10).pow(2)).map_or(0, |r| 255 - r)
    })?;
    save(world, path, ball.at(..)).map(drop)
}

fn main() -> Result<()> {
    match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [scan, store] => zippy::run(|world| program(world, scan, store)),
        [] => zippy::run(|world| ball(world, "ball.nrrd").and_then(|()| program(world, "ball.nrrd", "ball.zarr"))),
        _ => Err(Error::program("files SCAN STORE.zarr: a scan (.nrrd, .nii.gz, ...) and the store to write")),
    }
}
