//! Solids from files of scans and surfaces.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use zippy::region::Region;
use zippy::{Error, Result, World};
use zippy_files::said;
use zippy_io::mesh;
use zippy_io::volume::{self, NumpyAxes, OpenOptions, RawLayout, ScalarKind, VolumeFile};
use zippy_lbm::solids::{
    Placement, PlaneReceiver, ScanVolume, SolidMask, SolidShape, TriangleSurface, VoxelizationBox,
};

use crate::inputs::SolidSource;
use crate::say::complain;

/// A scan in a file. Each rank reads the planes that it needs.
struct ScanFile {
    file: VolumeFile,
    above: f64,
    below: Option<f64>,
}

impl ScanFile {
    fn with_volume<R>(&self, use_volume: impl FnOnce(&ScanVolume<'_>) -> R) -> R {
        let shape = self.file.shape();
        let axes = shape.axes();
        let read = |planes: Range<i64>, take: &mut PlaneReceiver<'_>| -> Result<()> {
            let plane = |z: i64| {
                let (mut start, mut end) = (vec![0; axes], shape.to_vec());
                if axes == 3 {
                    (start[2], end[2]) = (z, z + 1);
                }
                Region::new(&start, &end)
            };
            let regions: Vec<Region> = planes.clone().map(plane).collect::<std::result::Result<_, _>>()?;
            self.file.read_regions_scaled_f64(&regions, |index, voxels| take(planes.start + index as i64, &voxels))
        };
        use_volume(&ScanVolume {
            shape: std::array::from_fn(|axis| if axis < axes { shape[axis] } else { 1 }),
            grid: self.file.grid(),
            above: self.above,
            below: self.below,
            read_planes: &read,
        })
    }
}

impl SolidShape for ScanFile {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.with_volume(|volume| volume.bounds())
    }

    fn voxelize(&self, world: &World, placement: &Placement, voxelization_box: &VoxelizationBox) -> Result<SolidMask> {
        let solid = self.with_volume(|volume| volume.voxelize(world, placement, voxelization_box));
        // Printed by the rank that read the end of the file.
        self.file.late_note().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
        solid
    }
}

/// Prints a note if 64-bit integers of a file are compared with levels where `f64` is not exact.
fn note_rounding(file: &VolumeFile, source: &SolidSource, above: f64) {
    let level = source.below.map_or(above, |below| if below.abs() > above.abs() { below } else { above });
    let is_long = matches!(file.kind(), ScalarKind::I64 | ScalarKind::U64);
    if is_long && file.rescale().is_none() && level.abs() >= 2.0_f64.powi(53) {
        complain(format_args!(
            "note: {}: its 64-bit integers are compared with {level} as floats with a spacing of {}",
            source.file.display(),
            level.abs().next_up() - level.abs()
        ));
    }
}

/// Opens a scan. Collective.
pub(crate) fn open_scan(world: &World, source: &SolidSource, above: f64) -> Result<Rc<dyn SolidShape>> {
    let file = &*source.file;
    let open = || -> Result<VolumeFile> {
        let opened = match &source.raw {
            Some(raw) => {
                let kind = raw.kind.parse().map_err(Error::program)?;
                VolumeFile::raw(file, RawLayout::new(raw.shape, kind))?
            }
            None => {
                let with_file = |problem| Error::program(format!("{}: {problem}", file.display()));
                let axes =
                    source.axes.as_ref().map_or(Ok(NumpyAxes::default()), |axes| axes.parse().map_err(with_file))?;
                volume::open_with(file, &OpenOptions { axes, ..OpenOptions::default() })?
            }
        };
        match opened.components() {
            1 => match opened.grid().check() {
                Ok(()) => Ok(opened),
                Err(error) => Err(Error::program(format!("{}: {error}", file.display()))),
            },
            count => {
                Err(Error::program(format!("{}: {count} numbers in each voxel; a solid needs one", file.display())))
            }
        }
    };
    let file = world.agree("opening a scan", open())?;
    if world.rank() == 0 {
        file.notes().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
        note_rounding(&file, source, above);
    }
    Ok(Rc::new(ScanFile { file, above, below: source.below }))
}

/// Reads a surface. Collective.
pub(crate) fn read_surface(world: &World, file: &Path) -> Result<Rc<dyn SolidShape>> {
    let read = || -> Result<(TriangleSurface, Vec<String>)> {
        let mesh = mesh::read(file)?;
        let corner = |vertex: u64| usize::try_from(vertex).ok().and_then(|vertex| mesh.positions.get(vertex).copied());
        let triangle = |[a, b, c]: [u64; 3]| Some([corner(a)?, corner(b)?, corner(c)?]);
        let triangles: Option<Vec<_>> = mesh.triangles.iter().map(|&vertices| triangle(vertices)).collect();
        let none = || Error::program(format!("{}: a triangle has the index of a missing vertex", file.display()));
        let triangles = triangles.ok_or_else(none)?;
        let with_file = |error| Error::program(format!("{}: {error}", file.display()));
        Ok((TriangleSurface::new(&triangles).map_err(with_file)?, mesh.notes))
    };
    let (surface, notes) = world.agree("reading a surface", read())?;
    if world.rank() == 0 {
        notes.iter().for_each(|note| complain(format_args!("note: {}", said(note))));
    }
    Ok(Rc::new(surface))
}

/// Opens the solid in a file; the extension selects scan or surface. Collective.
pub(crate) fn open_shape(world: &World, source: &SolidSource) -> Result<Rc<dyn SolidShape>> {
    let ending = source.file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_surface = matches!(&*ending, "stl" | "ply" | "obj" | "vtp" | "pvtp");
    match (is_surface, source.above) {
        (true, None) => read_surface(world, &source.file),
        (true, Some(_)) => Err(Error::program(format!(
            "{} is a surface whose inside is solid; --above is for scans",
            source.file.display()
        ))),
        (false, Some(above)) => open_scan(world, source, above),
        (false, None) => Err(Error::program(format!(
            "{} is not a surface (.stl, .ply, .obj, .vtp); a scan needs --above, the value above which it is solid",
            source.file.display()
        ))),
    }
}
