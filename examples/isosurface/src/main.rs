//! Isosurfaces of a scanned volume or of a formula, extracted by several ranks. `--help` says how.
#![forbid(unsafe_code)]

mod filters;
mod formula;
mod options;
mod picture;
mod report;
#[path = "../../support/say.rs"]
mod say;
mod source;
#[path = "../../support/words.rs"]
mod words;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, Result, World};
use zippy_io::volume::ScalarKind;
use zippy_isosurface::{Extractor, statistics, write};

use self::options::Options;
use self::picture::Painter;
use self::report::Report;
use self::say::{complain, say};
use self::source::{Kept, Source, Taker};

fn main() -> ExitCode {
    let options = Options::parse_from(words::with_negative_numbers(std::env::args_os()));
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    options.check()?;
    zippy::run_with(options.config(), |world| program(world, options)).map(drop)
}

/// What every rank does. Collective.
fn program(world: &World, options: &Options) -> Result<()> {
    let source = world.agree("opening the volume", Source::open(options))?;
    let shape = source.shape();
    match &source {
        Source::Formula(formula, n) => {
            let read = |boxes: &[Region], done: Taker<f32>| {
                boxes.iter().enumerate().try_for_each(|(number, one)| {
                    let at = |point: Index| std::array::from_fn(|axis| point[axis]);
                    done(number, one.points().map(|point| formula.value(*n, at(point))).collect())
                })
            };
            surfaces(world, options, &source, source::array(world, "field", shape, options.pad, read)?)
        }
        Source::File(file) => {
            macro_rules! read {
                ($type:ty) => {{
                    let read = |boxes: &[Region], done: Taker<$type>| file.read_regions::<$type, _>(boxes, done);
                    surfaces(world, options, &source, source::array(world, "field", shape, options.pad, read)?)
                }};
            }
            // Values that a file scales are floats.
            let kind = if file.rescale().is_some() { ScalarKind::F64 } else { file.kind() };
            match kind {
                ScalarKind::U8 => read!(u8),
                ScalarKind::I8 => read!(i8),
                ScalarKind::U16 => read!(u16),
                ScalarKind::I16 => read!(i16),
                ScalarKind::U32 => read!(u32),
                ScalarKind::I32 => read!(i32),
                ScalarKind::F32 => read!(f32),
                ScalarKind::F64 | ScalarKind::U64 | ScalarKind::I64 => {
                    let read = |boxes: &[Region], done: Taker<f32>| file.read_regions_scaled(boxes, done);
                    surfaces(world, options, &source, source::array(world, "field", shape, options.pad, read)?)
                }
            }
        }
    }
}

fn surfaces<T: Kept>(world: &World, options: &Options, source: &Source, field: GlobalArray<T, 3>) -> Result<()> {
    // With a layer of samples around the file's, the first one is that of the layer.
    let grid = if options.pad { source.grid().section([-1; 3], [1; 3]) } else { source.grid() };
    if options.filters.any_given() {
        return filters::run(world, options, &field, grid);
    }
    world.debug_point("field")?;
    world.barrier()?;
    let start = Instant::now();
    let extractor = match options.normals {
        true => Extractor::with_normals(world, &field, grid)?,
        false => Extractor::new(world, &field, grid)?,
    };
    world.barrier()?;
    let prepare_secs = start.elapsed().as_secs_f64();
    let (isovalues, start) = (options.isovalues(), Instant::now());
    let meshes = extractor.extract_several(&isovalues)?;
    world.barrier()?;
    let secs = [prepare_secs, start.elapsed().as_secs_f64()];
    world.debug_point("surfaces")?;
    let is_any_empty = meshes.iter().any(|mesh| mesh.triangle_count() == 0);
    let values = if is_any_empty { source::values(world, &field)? } else { None };
    for (&isovalue, mesh) in isovalues.iter().zip(meshes) {
        let mut report = Report::new(&mesh, isovalue, field.shape(), world.size(), secs);
        report.together = isovalues.len();
        report.values = values.filter(|_| mesh.triangle_count() == 0);
        if options.verify {
            report.verified = Some(statistics(world, &mesh)?);
        }
        if let Some(path) = options.file(isovalue) {
            let start = Instant::now();
            write(world, &mesh, &path)?;
            report.written = Some((path, start.elapsed().as_secs_f64()));
        }
        // At once: a later one may fail.
        if world.rank() == 0 {
            say(if options.json { report.json() } else { report.text() })?;
        }
    }
    if let Some(path) = &options.picture.render {
        let colours = source::colours(world, options, source, field.shape())?;
        let start = Instant::now();
        Painter::new(world, &field, grid, &options.picture, colours)?.paint(&isovalues, path)?;
        if world.rank() == 0 {
            say(report::picture(options, path, start.elapsed().as_secs_f64()))?;
        }
    }
    Ok(())
}
