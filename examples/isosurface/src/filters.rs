//! Filters that replace surfaces: `--threshold`, `--clip`, `--cut`.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde_json::{Map, Value, json};
use zippy::{Result, World};
use zippy_io::IoError;
use zippy_io::mesh::{Format, piece_format};
use zippy_isosurface::{Corners, Extractor, Plane, Sample, Side, VolumeMesh, cut, statistics, volume_statistics};

use crate::field::{self, Field};
use crate::levels::NAME;
use crate::options::Options;
use crate::placement::Placement;
use crate::say::{complain, say};
use crate::sizes;
use crate::source::FieldSample;
use crate::units::Level;

/// Command-line options of filters.
#[derive(Args, Debug, Clone)]
#[group(skip)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Keeps the cells whose eight corners have values from LOW to HIGH, as hexahedra
    #[arg(
        long,
        value_name = "LOW,HIGH",
        value_delimiter = ',',
        num_args = 1,
        group = "operation",
        value_parser = parse_range_end
    )]
    threshold: Vec<Level>,

    /// With --threshold: keeps cells with at least one corner in the range
    #[arg(long, requires = "threshold")]
    any: bool,

    /// Keeps the part of the volume with values of at least VALUE, as hexahedra and tetrahedra
    #[arg(long, value_name = "VALUE", group = "operation", value_parser = Level::parse)]
    clip: Option<Level>,

    /// With --clip: keeps the part with smaller values
    #[arg(long, requires = "clip")]
    below: bool,

    /// Cuts the volume by the plane a x + b y + c z = d, as triangles with interpolated values
    #[arg(long, value_name = "A,B,C,D", value_delimiter = ',', num_args = 1, group = "operation")]
    cut: Vec<f64>,
}

fn parse_range_end(text: &str) -> std::result::Result<Level, String> {
    Level::parse(text).or_else(|_| sizes::number_or_infinity(text).map(Level::from))
}

impl Filters {
    /// Levels for comparison with samples; `None` without a filter.
    pub(crate) fn levels(&self) -> Option<Vec<Level>> {
        match self.clip {
            Some(level) => Some(vec![level]),
            None => self.is_given().then(|| self.threshold.clone()),
        }
    }

    pub(crate) fn is_range(&self) -> bool {
        !self.threshold.is_empty()
    }

    pub(crate) fn is_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    pub(crate) fn keeps_below(&self) -> bool {
        self.below
    }

    pub(crate) fn is_given(&self) -> bool {
        !self.threshold.is_empty() || self.clip.is_some() || !self.cut.is_empty()
    }

    /// Checks options that clap does not check.
    pub(crate) fn check(&self, output: Option<&Path>) -> Result<()> {
        for (name, found, wanted) in [("threshold", self.threshold.len(), 2), ("cut", self.cut.len(), 4)] {
            if found != 0 && found != wanted {
                let text = format!("--{name} has {found} numbers; it needs {wanted}, separated by commas");
                return Err(zippy::Error::program(text));
            }
        }
        // If another filter or an isovalue is given, clap does not report these.
        for (is_given, name, is_wanted, wanted) in [
            (self.any, "--any", self.is_range(), "--threshold"),
            (self.below, "--below", self.clip.is_some(), "--clip"),
        ] {
            if is_given && !is_wanted {
                return Err(zippy::Error::program(format!("{name} has no effect here: it is for {wanted}")));
            }
        }
        let cells = !self.threshold.is_empty() || self.clip.is_some();
        let format = |path| Format::of(path).or_else(|_| piece_format(path));
        match output.filter(|_| cells) {
            Some(path) if !format(path).is_ok_and(|format| format == Format::Vtu) => {
                Err(IoError::request(path, "cannot have cells of a volume; give a name that ends in .vtu or .pvtu")
                    .into())
            }
            _ => Ok(()),
        }
    }
}

/// Filters a field and prints a report. Collective.
pub(crate) fn run<T: FieldSample>(
    world: &World,
    options: &Options,
    field: &Field<T>,
    placement: &Placement,
) -> Result<()> {
    let filters = &options.filters;
    let Field { array, units, .. } = field;
    let mut report = Map::new();
    report.insert("shape".into(), json!(array.shape()));
    report.insert("ranks".into(), json!(world.size()));
    let start = Instant::now();
    if let [a, b, c, d] = filters.cut[..] {
        let normal = [a, b, c];
        let plane = Plane { normal, offset: placement.offset(normal, d) };
        let mut mesh = cut(world, array, placement.grid, plane, &[])?;
        mesh.map_field(array.name(), NAME, |sample| field::value(units, sample) as f32);
        note_coarse(world, options, field)?;
        world.barrier()?;
        let mut put = |name: &str, value: Value| report.insert(name.into(), value);
        put("cut", json!([a, b, c, d]));
        put("cut_secs", json!(start.elapsed().as_secs_f64()));
        put("vertices", json!(mesh.vertices()));
        put("triangles", json!(mesh.triangle_count()));
        if mesh.triangle_count() == 0 {
            // The plane misses the field.
            put("box", json!(placement.field_box(array.shape())));
        }
        if options.verify {
            let statistics = statistics(world, &mesh)?;
            put("euler", json!(statistics.euler));
            put("components", json!(statistics.components));
            put("area", json!(statistics.area));
            put("bounds", json!(statistics.bounds.map(|bounds| placement.bounds(bounds))));
        }
        write_output(options, &mut report, |path| placement.write(world, &mesh, path))?;
        return print_report(world, options, report);
    }
    let extractor = Extractor::new(world, array, placement.grid)?;
    world.barrier()?;
    report.insert("prepare_secs".into(), json!(start.elapsed().as_secs_f64()));
    let start = Instant::now();
    let (name, value, mut mesh) = apply_filter(filters, &extractor, field)?;
    mesh.map_field(array.name(), NAME, |sample| field::value(units, sample) as f32);
    note_coarse(world, options, field)?;
    world.barrier()?;
    let mut put = |name: &str, value: Value| report.insert(name.into(), value);
    put(name, value);
    put("filter_secs", json!(start.elapsed().as_secs_f64()));
    let cells = mesh.cell_count();
    put("points", json!(mesh.point_count()));
    put("hexahedra", json!(cells.hexahedra));
    put("tetrahedra", json!(cells.tetrahedra));
    if cells.all() == 0 {
        put("values", json!(field.extremes(world)?));
    }
    if options.verify {
        let statistics = volume_statistics(world, &mesh)?;
        put("volume", json!(statistics.volume));
        put("bounds", json!(statistics.bounds.map(|bounds| placement.bounds(bounds))));
    }
    write_output(options, &mut report, |path| placement.write_volume(world, &mesh, path))?;
    print_report(world, options, report)
}

fn apply_filter<T: Sample>(
    filters: &Filters,
    extractor: &Extractor<'_, T>,
    field: &Field<T>,
) -> Result<(&'static str, Value, VolumeMesh)> {
    let samples = &field.levels;
    if let ([low, high], [least, most]) = (&filters.threshold[..], &samples[..]) {
        let corners = if filters.any { Corners::Any } else { Corners::All };
        // Ends that are too close have no float between them.
        let is_between = low.minus(*high) <= 0.0;
        let range = if least > most && is_between { f32::INFINITY..=f32::INFINITY } else { *least..=*most };
        return Ok(("threshold", json!([low.json(), high.json()]), extractor.threshold(range, corners, &[])?));
    }
    let side = if filters.below { Side::Below } else { Side::Above };
    let level = filters.clip.unwrap_or(Level::from(0.0));
    Ok(("clip", level.json(), extractor.clip(samples[0], side, &[])?))
}

/// Prints a note if floats in the output are coarser than the samples of the field.
fn note_coarse<T: FieldSample>(world: &World, options: &Options, field: &Field<T>) -> Result<()> {
    let Some(path) = options.output.as_ref().filter(|_| field.is_coarse) else { return Ok(()) };
    let Some([_, near]) = field.extremes(world)? else { return Ok(()) };
    if world.rank() == 0 {
        let size = near.abs() as f32;
        complain(format_args!(
            "note: {}: the array {} has values near {near} as floats with a spacing of {}; values of samples differ by \
             less",
            path.display(),
            zippy_files::quoted(NAME),
            f64::from(size.next_up()) - f64::from(size)
        ));
    }
    Ok(())
}

fn write_output(options: &Options, report: &mut Map<String, Value>, write: impl Fn(&Path) -> Result<()>) -> Result<()> {
    if let Some(path) = &options.output {
        let start = Instant::now();
        write(path)?;
        report.insert("output".into(), json!(path.display().to_string()));
        report.insert("write_secs".into(), json!(start.elapsed().as_secs_f64()));
    }
    Ok(())
}

/// Prints the report as JSON, or one line for each member.
fn print_report(world: &World, options: &Options, report: Map<String, Value>) -> Result<()> {
    let lines = || {
        let lines = report.iter().map(|(name, value)| format!("{name:<12} {value}\n")).collect::<String>();
        // The report has these members only if the result is empty.
        let is_empty = ["box", "values"].iter().any(|name| report.contains_key(*name));
        lines.trim_end().to_owned()
            + if is_empty { "\nthe result is empty: the field has no such values or positions" } else { "" }
    };
    match world.rank() {
        0 if options.json => say(Value::Object(report.clone()).to_string()),
        0 => say(lines()),
        _ => Ok(()),
    }
}
