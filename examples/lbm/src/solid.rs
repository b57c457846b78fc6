//! Solids out of files.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use zippy::region::Region;
use zippy::{Error, Result, World};
use zippy_io::volume::{self, NumpyAxes, OpenOptions, RawLayout, ScalarKind, VolumeFile};
use zippy_io::{mesh, said};
use zippy_lbm::solids::{Placement, Room, Shape, Solid, Surface, Take, Voxels};

use crate::inputs::FromFile;
use crate::say::complain;

/// A scan in a file, of which each rank reads the planes that it needs.
struct Scan {
    file: VolumeFile,
    above: f64,
    below: Option<f64>,
}

impl Scan {
    fn with<R>(&self, then: impl FnOnce(&Voxels) -> R) -> R {
        let shape = self.file.shape();
        let axes = shape.axes();
        let read = |planes: Range<i64>, take: &mut Take| -> Result<()> {
            let plane = |z: i64| {
                let (mut start, mut end) = (vec![0; axes], shape.to_vec());
                if axes == 3 {
                    (start[2], end[2]) = (z, z + 1);
                }
                Region::new(&start, &end)
            };
            let regions: Vec<Region> = planes.clone().map(plane).collect::<std::result::Result<_, _>>()?;
            self.file.read_regions_scaled_f64(&regions, |number, voxels| take(planes.start + number as i64, &voxels))
        };
        then(&Voxels {
            shape: std::array::from_fn(|axis| if axis < axes { shape[axis] } else { 1 }),
            grid: self.file.grid(),
            above: self.above,
            below: self.below,
            read: &read,
        })
    }
}

impl Shape for Scan {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.with(|voxels| voxels.bounds())
    }

    fn solid(&self, world: &World, placement: &Placement, room: &Room) -> Result<Solid> {
        let solid = self.with(|voxels| voxels.solid(world, placement, room));
        // On the rank that has read the end of the file.
        self.file.late_note().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
        solid
    }
}

/// A note where integers of a file, and the levels that they are compared with, are more than
/// floats hold.
fn note_rounding(file: &VolumeFile, from: &FromFile, above: f64) {
    let level = from.below.map_or(above, |below| if below.abs() > above.abs() { below } else { above });
    let is_long = matches!(file.kind(), ScalarKind::I64 | ScalarKind::U64);
    if is_long && file.rescale().is_none() && level.abs() >= 2.0_f64.powi(53) {
        complain(format_args!(
            "note: {}: its integers of 64 bits are compared with {level} as floats, which are {} apart there",
            from.file.display(),
            level.abs().next_up() - level.abs()
        ));
    }
}

/// Opens a scan. Collective.
pub fn scan(world: &World, from: &FromFile, above: f64) -> Result<Rc<dyn Shape>> {
    let file = &*from.file;
    let open = || -> Result<VolumeFile> {
        let opened = match &from.raw {
            Some(raw) => {
                let kind = raw.kind.parse().map_err(Error::program)?;
                VolumeFile::raw(file, RawLayout::new(raw.shape, kind))?
            }
            None => {
                let named = |problem| Error::program(format!("{}: {problem}", file.display()));
                let axes = from.axes.as_ref().map_or(Ok(NumpyAxes::default()), |axes| axes.parse().map_err(named))?;
                volume::open_with(file, &OpenOptions { axes, ..OpenOptions::default() })?
            }
        };
        match opened.components() {
            1 => match opened.grid().check() {
                Ok(()) => Ok(opened),
                Err(error) => Err(Error::program(format!("{}: {error}", file.display()))),
            },
            count => Err(Error::program(format!(
                "{}: {count} numbers a voxel; a solid is made of a scan with one",
                file.display()
            ))),
        }
    };
    let file = world.agree("opening a scan", open())?;
    if world.rank() == 0 {
        file.notes().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
        note_rounding(&file, from, above);
    }
    Ok(Rc::new(Scan { file, above, below: from.below }))
}

/// Reads a surface. Collective.
pub fn surface(world: &World, file: &Path) -> Result<Rc<dyn Shape>> {
    let read = || -> Result<(Surface, Vec<String>)> {
        let mesh = mesh::read(file)?;
        let corner = |vertex: u64| usize::try_from(vertex).ok().and_then(|vertex| mesh.positions.get(vertex).copied());
        let triangle = |[a, b, c]: [u64; 3]| Some([corner(a)?, corner(b)?, corner(c)?]);
        let triangles: Option<Vec<_>> = mesh.triangles.iter().map(|&one| triangle(one)).collect();
        let none = || Error::program(format!("{}: a triangle names a vertex that there is not", file.display()));
        let triangles = triangles.ok_or_else(none)?;
        let named = |error| Error::program(format!("{}: {error}", file.display()));
        Ok((Surface::new(&triangles).map_err(named)?, mesh.notes))
    };
    let (surface, notes) = world.agree("reading a surface", read())?;
    if world.rank() == 0 {
        notes.iter().for_each(|note| complain(format_args!("note: {}", said(note))));
    }
    Ok(Rc::new(surface))
}

/// Whatever a file is, by the ending of its name. Collective.
pub fn shape(world: &World, from: &FromFile) -> Result<Rc<dyn Shape>> {
    let ending = from.file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_surface = matches!(&*ending, "stl" | "ply" | "obj" | "vtp" | "pvtp");
    match (is_surface, from.above) {
        (true, None) => surface(world, &from.file),
        (true, Some(_)) => Err(Error::program(format!(
            "{} is a surface: its inside is solid, and --above is for scans",
            from.file.display()
        ))),
        (false, Some(above)) => scan(world, from, above),
        (false, None) => Err(Error::program(format!(
            "{} is no surface (.stl, .ply, .obj, .vtp); of a scan --above says from which value on it is solid",
            from.file.display()
        ))),
    }
}
