//! Rendered volumes: scans if their files exist, else a phantom.

use std::path::{Path, PathBuf};

use zippy::region::Region;
use zippy::{GlobalArray, Layout, Result, World};
use zippy_io::volume;
use zippy_io::volume::VolumeFile;
use zippy_render::scene;
use zippy_render::volume::{Camera, Phantom, TransferFunction};

/// An 8-bit volume with camera and transfer function.
pub(crate) struct Subject {
    pub name: &'static str,
    pub shape: [i64; 3],
    pub camera: Camera,
    pub transfer: TransferFunction,
    /// Published time of another program for this frame.
    pub note: Option<&'static str>,
    voxels: Voxels,
}

enum Voxels {
    File(VolumeFile),
    Phantom(Phantom),
}

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path)
}

/// The scans with transfer functions and cameras of VTK's reference pictures, or the phantom.
pub(crate) fn subjects() -> Result<Vec<Subject>> {
    let known = [
        ("engine", "VTK needed 1.43 s (GPU mapper in software; shaded 3.2 s) and 0.48 s (CPU mapper) on 2 quiet cores"),
        ("bonsai", "VTK needed 1.9 s (GPU mapper in software; shaded 3.9 s) and 0.35 s (CPU mapper) on 2 quiet cores"),
    ];
    let mut found = Vec::new();
    for (name, note) in known {
        let (file, scenes) = (shared(&format!("data/{name}.nrrd")), shared("reference/volume_rendering.json"));
        if !file.exists() || !scenes.exists() {
            continue;
        }
        let scene = scene::read(scenes, Some(&format!("{name}_gl_noshade_persp_sd1.0")))?;
        let file = volume::open(file)?;
        let shape = std::array::from_fn(|axis| file.shape()[axis]);
        let (camera, transfer, voxels) = (scene.camera, scene.transfer, Voxels::File(file));
        found.push(Subject { name, shape, camera, transfer, note: Some(note), voxels });
    }
    if found.is_empty() {
        found.push(Subject::phantom([256; 3]));
    }
    Ok(found)
}

impl Subject {
    /// The phantom with 8 bits, completely in the picture.
    pub(crate) fn phantom(shape: [i64; 3]) -> Self {
        Self {
            name: "phantom",
            shape,
            camera: Camera::overview(shape, [1.0; 3]),
            transfer: TransferFunction::ramp(0.0, 255.0),
            note: None,
            voxels: Voxels::Phantom(Phantom { shape }),
        }
    }

    /// x fastest.
    pub(crate) fn read(&self, region: &Region) -> Result<Vec<u8>> {
        match &self.voxels {
            Voxels::File(file) => Ok(file.read_region(region)?),
            Voxels::Phantom(phantom) => {
                let value = |at: [i64; 3]| (phantom.value(at) >> 4) as u8;
                Ok(region.points().map(|at| value([at[0], at[1], at[2]])).collect())
            }
        }
    }

    /// Array of the voxels over all ranks. Collective.
    pub(crate) fn array(&self, world: &World) -> Result<GlobalArray<u8, 3>> {
        let array = world.array(self.name, &Layout::new(self.shape))?;
        for chunk in array.chunks() {
            chunk.all().write(&self.read(&chunk.region())?)?;
        }
        Ok(array)
    }
}
