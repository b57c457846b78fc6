//! Images of scanned volumes against those of VTK's ray caster (GPU mapper), with the same camera,
//! transfer function, sample distance and light. Without the scans and images, which are not part
//! of the project, the test prints a message and passes.

use std::path::{Path, PathBuf};

use zippy::error::Error;
use zippy::{Config, Layout, World, run_with};
use zippy_io::image::difference_8bit;
use zippy_io::{png, volume};
use zippy_render::scene;
use zippy_render::volume::{Look, RendererOptions, Shading, VolumeRenderer};

use crate::support::launcher;

/// The two mappers of VTK agree with each other to 43.7 dB (engine) and 44.2 dB (bonsai).
const LEAST_DB: f64 = 45.0;

/// Light of the shaded scenes, which do not define it: the round numbers closest to both images.
/// VTK's own defaults (0.1, 0.7, 0.2, 10) are 32 and 37 dB away.
const LIGHT: Shading = Shading { ambient: 0.2, diffuse: 0.7, specular: 0.3, shininess: 40.0 };

/// Scenes, and their numbers of ranks (threads).
const SCENES: [(&str, usize); 5] = [
    ("engine_gl_noshade_persp_sd1.0", 8),
    ("bonsai_gl_noshade_persp_sd1.0", 3),
    ("bonsai_gl_noshade_ortho_sd0.25", 1),
    ("engine_gl_shade_persp_sd0.25", 5),
    ("bonsai_gl_shade_persp_sd0.25", 2),
];

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

fn render(world: &World, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let scan = name.split('_').next().unwrap_or(name);
    let scene = scene::read(shared().join("reference/volume_rendering.json"), Some(name))?;
    let file = volume::open(shared().join(format!("data/{scan}.nrrd")))?;
    let shape: [i64; 3] = std::array::from_fn(|axis| file.shape()[axis]);
    let spacing: [f64; 3] = std::array::from_fn(|axis| file.spacing()[axis]);
    let array = world.array::<u8, 3>("scan", &Layout::new(shape))?;
    for chunk in array.chunks() {
        chunk.all().write(&file.read_region(&chunk.region())?)?;
    }
    let renderer = VolumeRenderer::new(world, &array, spacing, RendererOptions::default())?;
    let size = scene.size.expect("the scenes have sizes");
    let shading = scene.shading.map(|_| LIGHT);
    let look = Look { step: scene.sample_distance, size, shading, ..Look::new(scene.camera, scene.transfer) };
    let frame = renderer.render(&look)?;
    Ok(frame.image.map(|image| image.over_background(scene.background)))
}

#[test]
fn pictures_are_those_of_vtk() {
    if std::env::var_os("ZIPPY_BINDING_LIMIT").is_some() {
        println!("skipped: a chunk of a scan needs more windows of a small limit than a kernel has bindings");
        return;
    }
    // The first two are quick and suffice for other transports.
    let scenes = if launcher::size().is_some() { &SCENES[..2] } else { &SCENES[..] };
    for &(name, ranks) in scenes {
        let path = shared().join(format!("reference/images/{name}.png"));
        if !path.exists() {
            println!("skipped: there is no {}", path.display());
            continue;
        }
        let expected = png::read(&path, None).unwrap();
        for count in launcher::counts(&[ranks]) {
            let pictures = run_with(Config::threads(count), |world| render(world, name)).unwrap();
            let Some(picture) = pictures.into_iter().flatten().next() else { continue };
            assert_eq!(picture.len(), expected.bytes.len(), "{name}");
            let psnr_db = difference_8bit(&picture, &expected.bytes).psnr_db;
            println!("{name}: {psnr_db:.2} dB");
            assert!(psnr_db >= LEAST_DB, "{name} on {count} ranks: {psnr_db} dB");
            // Excludes two black images.
            assert!(picture.iter().filter(|&&component| component > 64).count() > 50_000, "{name}");
        }
    }
}
