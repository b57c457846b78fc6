//! Command-line program that extracts isosurfaces of a volume or a formula on several ranks.
#![forbid(unsafe_code)]

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/arrays.rs"]
mod arrays;
mod field;
mod filters;
mod formula;
mod levels;
mod options;
mod picture;
mod placement;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/raw_input.rs"]
mod raw_input;
mod report;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/say.rs"]
mod say;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/sizes.rs"]
mod sizes;
mod source;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/units.rs"]
mod units;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/words.rs"]
mod words;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use zippy::{Result, World};
use zippy_files::said;
use zippy_isosurface::{Extractor, statistics};

use self::field::{Field, FieldOperation};
use self::options::Options;
use self::picture::SurfacePicture;
use self::placement::Placement;
use self::report::Report;
use self::say::{complain, say};
use self::source::{FieldSample, Source};

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
    zippy::run_with(options.config(), |world| run_rank(world, options)).map(drop)
}

fn run_rank(world: &World, options: &Options) -> Result<()> {
    let opened = Source::open(options).and_then(|source| options.check_outputs().map(|()| source));
    let source = world.agree("opening the volume", opened)?;
    if let Source::File(file) = &source
        && world.rank() == 0
    {
        file.notes().iter().for_each(|note| complain(format_args!("note: {}", said(note))));
    }
    field::with_field(world, options, &source, &SurfaceExtraction { world, options, source: &source })
}

/// Extraction of the surfaces of a field, or of the kept part with a filter.
struct SurfaceExtraction<'a> {
    world: &'a World,
    options: &'a Options,
    source: &'a Source,
}

impl FieldOperation for SurfaceExtraction<'_> {
    fn run<T: FieldSample>(&self, field: Field<T>) -> Result<()> {
        let &Self { world, options, source } = self;
        // The first sample of a padded field is in the added layer.
        let grid = if options.pad { source.grid().section([-1; 3], [1; 3]) } else { source.grid() };
        let placement = Placement::new(grid, field.array.shape());
        if options.filters.is_given() {
            return filters::run(world, options, &field, &placement);
        }
        let (array, samples) = (&field.array, &field.levels[..]);
        world.debug_point("field")?;
        world.barrier()?;
        let start = Instant::now();
        let extractor = if options.normals {
            Extractor::with_normals(world, array, placement.grid)?
        } else {
            Extractor::new(world, array, placement.grid)?
        };
        world.barrier()?;
        let prepare_secs = start.elapsed().as_secs_f64();
        let (isovalues, start) = (options.isovalues(), Instant::now());
        let meshes = extractor.extract_several(samples)?;
        world.barrier()?;
        let secs = [prepare_secs, start.elapsed().as_secs_f64()];
        world.debug_point("surfaces")?;
        let is_any_empty = meshes.iter().any(|mesh| mesh.triangle_count() == 0);
        let values = if is_any_empty { field.extremes(world)? } else { None };
        for (&isovalue, mesh) in isovalues.iter().zip(meshes) {
            let mut report = Report::new(&mesh, isovalue, array.shape(), world.size(), secs);
            report.label = options.label;
            report.extracted_together = isovalues.len();
            report.values = values.filter(|_| mesh.triangle_count() == 0);
            if options.verify {
                let statistics = statistics(world, &mesh)?;
                report.bounds = statistics.bounds.map(|bounds| placement.bounds(bounds));
                report.verified = Some(statistics);
            }
            if let Some(path) = options.mesh_file(isovalue) {
                let start = Instant::now();
                placement.write(world, &mesh, &path)?;
                report.written = Some((path, start.elapsed().as_secs_f64()));
            }
            // Printed immediately, because a later surface may fail.
            if world.rank() == 0 {
                say(if options.json { report.json() } else { report.text() })?;
            }
        }
        if let Some(path) = &options.picture.render {
            let colours = source::colours(world, options, source, array.shape())?;
            let start = Instant::now();
            SurfacePicture::new(world, array, grid, &options.picture, colours)?.write(samples, path)?;
            if world.rank() == 0 {
                say(report::picture(options, path, start.elapsed().as_secs_f64()))?;
            }
        }
        Ok(())
    }
}
