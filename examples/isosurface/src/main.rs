//! Isosurfaces of a scanned volume or of a formula, extracted by several ranks. `--help` says how.
#![forbid(unsafe_code)]

#[path = "../../support/arrays.rs"]
mod arrays;
mod field;
mod filters;
mod formula;
mod levels;
mod options;
mod picture;
mod placement;
#[path = "../../support/raw_input.rs"]
mod raw_input;
mod report;
#[path = "../../support/say.rs"]
mod say;
#[path = "../../support/sizes.rs"]
mod sizes;
mod source;
#[path = "../../support/units.rs"]
mod units;
#[path = "../../support/words.rs"]
mod words;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use zippy::{Result, World};
use zippy_io::said;
use zippy_isosurface::{Extractor, statistics};

use self::field::{Act, Field};
use self::options::Options;
use self::picture::Painter;
use self::placement::Placement;
use self::report::Report;
use self::say::{complain, say};
use self::source::{Kept, Source};

fn main() -> ExitCode {
    zippy::prepare_process();
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
    let opened = Source::open(options).and_then(|source| options.check_outputs().map(|()| source));
    let source = world.agree("opening the volume", opened)?;
    if let Source::File(file) = &source
        && world.rank() == 0
    {
        file.notes().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
    }
    field::with(world, options, &source, &Surfaces { world, options, source: &source })
}

/// The surfaces of a field, or the part that a filter keeps.
struct Surfaces<'a> {
    world: &'a World,
    options: &'a Options,
    source: &'a Source,
}

impl Act for Surfaces<'_> {
    fn act<T: Kept>(&self, field: Field<T>) -> Result<()> {
        let &Self { world, options, source } = self;
        // With a layer of samples around the file's, the first one is that of the layer.
        let grid = if options.pad { source.grid().section([-1; 3], [1; 3]) } else { source.grid() };
        let placement = Placement::new(grid, field.array.shape());
        if options.filters.any_given() {
            return filters::run(world, options, &field, &placement);
        }
        let whole = field;
        let (field, samples) = (&whole.array, &whole.levels[..]);
        world.debug_point("field")?;
        world.barrier()?;
        let start = Instant::now();
        let extractor = match options.normals {
            true => Extractor::with_normals(world, field, placement.grid)?,
            false => Extractor::new(world, field, placement.grid)?,
        };
        world.barrier()?;
        let prepare_secs = start.elapsed().as_secs_f64();
        let (isovalues, start) = (options.isovalues(), Instant::now());
        let meshes = extractor.extract_several(samples)?;
        world.barrier()?;
        let secs = [prepare_secs, start.elapsed().as_secs_f64()];
        world.debug_point("surfaces")?;
        let is_any_empty = meshes.iter().any(|mesh| mesh.triangle_count() == 0);
        let values = if is_any_empty { whole.extremes(world)? } else { None };
        for (&isovalue, mesh) in isovalues.iter().zip(meshes) {
            let mut report = Report::new(&mesh, isovalue, field.shape(), world.size(), secs);
            report.label = options.label;
            report.together = isovalues.len();
            report.values = values.filter(|_| mesh.triangle_count() == 0);
            if options.verify {
                let found = statistics(world, &mesh)?;
                report.bounds = found.bounds.map(|bounds| placement.bounds(bounds));
                report.verified = Some(found);
            }
            if let Some(path) = options.mesh_file(isovalue) {
                let start = Instant::now();
                placement.write(world, &mesh, &path)?;
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
            Painter::new(world, field, grid, &options.picture, colours)?.paint(samples, path)?;
            if world.rank() == 0 {
                say(report::picture(options, path, start.elapsed().as_secs_f64()))?;
            }
        }
        Ok(())
    }
}
