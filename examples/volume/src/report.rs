//! Report of a rendering, as text and as JSON.

use serde_json::{Value, json};
use zippy::Grid;
use zippy::World;
use zippy::array::ArrayCore;
use zippy_files::{said, shown};
use zippy_io::image::Difference;
use zippy_io::volume::ScalarKind;
use zippy_render::volume::{Mode, Rescale};

use super::measurements::Measurements;
use super::phase::Phase;
use super::source::Source;
use super::units::NumberStatistics;

/// Properties of the volume and of its values.
#[derive(Debug, Clone)]
pub struct VolumeInfo {
    name: String,
    kind: ScalarKind,
    components: usize,
    shape: [i64; 3],
    grid: Grid,
    /// Smallest and largest finite value.
    range: (f64, f64),
    /// Slope and intercept of the file.
    rescale: Rescale,
    statistics: NumberStatistics,
    /// Notes from reading the file.
    file_notes: Vec<String>,
    /// True if a pixel of any frame is not transparent.
    is_visible: bool,
    /// Isovalue of the surface, if requested.
    isovalue: Option<f64>,
}

impl VolumeInfo {
    pub fn new(
        source: &Source,
        statistics: &NumberStatistics,
        range: (f64, f64),
        is_visible: bool,
        isovalue: Option<f64>,
    ) -> Self {
        let (name, kind, components) = (source.name(), source.kind(), source.components());
        let (shape, grid, rescale) = (source.shape(), source.grid(), source.rescale());
        let file_notes = source.notes();
        Self {
            name,
            kind,
            components,
            shape,
            grid,
            range,
            rescale,
            statistics: *statistics,
            file_notes,
            is_visible,
            isovalue,
        }
    }

    /// Notes about properties of the data that affect the picture.
    fn notes(&self) -> Vec<String> {
        let NumberStatistics { all, nan, infinite, far, .. } = self.statistics;
        let mut notes: Vec<String> = self.file_notes.iter().map(|note| said(note)).collect();
        if self.rescale != Rescale::default() {
            let Rescale { slope, intercept } = self.rescale;
            notes.push(format!("values are {slope} * stored number + {intercept}, as the file says"));
        }
        let categories = [(nan, "NaN"), (infinite, "infinite"), (far, "at 1e30 or further from 0")];
        let nonzero = categories.iter().filter(|(count, _)| *count > 0);
        let counts = nonzero.map(|(count, category)| format!("{count} are {category}")).collect::<Vec<_>>().join(", ");
        if nan + infinite + far == all {
            notes.push(format!("the volume has no useful number: of {all}, {counts}"));
        } else if !counts.is_empty() {
            let render_info =
                "NaN and numbers below the values are render_info as the smallest value, numbers above as the largest";
            notes.push(format!("of {all} numbers, {counts}; {render_info}"));
        }
        let (least, most) = self.range;
        if let Some(isovalue) = self.isovalue.filter(|isovalue| *isovalue <= least || *isovalue > most) {
            notes.push(format!("no surface of the isovalue {isovalue}: the values are from {least} to {most}"));
        }
        if !self.is_visible {
            notes.push("no pixel shows anything: check the transfer function, the cuts and the camera".into());
        }
        notes
    }

    fn bytes(&self) -> f64 {
        self.shape.iter().product::<i64>() as f64 * self.kind.bytes() as f64 * self.components as f64
    }
}

/// Settings and results of the rendering.
#[derive(Debug, Clone)]
pub struct RenderInfo {
    pub mode: Mode,
    /// Number of layers of the last frame.
    pub layers: usize,
    /// Largest difference that early ray termination makes.
    pub termination: f32,
}

impl RenderInfo {
    /// Maximum allowed difference between the picture and the picture of one rank. In fast mode ray
    /// segments differ between decompositions, so that rays end and sums round differently.
    pub fn bound(&self) -> f64 {
        match self.mode {
            Mode::Reproducible => 0.0,
            Mode::Fast => (2e-6 + f64::from(self.termination)).max(4e-6),
        }
    }
}

/// Data of the report of one rendering.
#[derive(Debug, Clone)]
pub struct Report {
    volume: VolumeInfo,
    adapter: Value,
    adapter_name: String,
    transport: String,
    ranks: usize,
    idle: usize,
    chunks: usize,
    grid: Vec<i64>,
    render_info: RenderInfo,
    measurements: Measurements,
}

/// Results that exist after the pictures are written.
pub struct Outcome {
    pub size: (usize, usize),
    pub output: String,
    pub total_secs: f64,
    /// Difference between the picture and the picture of one rank.
    pub single: Option<Difference>,
    /// Name of the reference picture, and the difference to it.
    pub reference: Option<(String, Difference)>,
}

/// PSNR in dB as JSON: null for identical pictures, because JSON has no infinity.
fn psnr_to_json(difference: &Difference) -> Value {
    Some(difference.psnr_db).filter(|db| db.is_finite()).into()
}

impl Report {
    pub fn new(
        world: &World,
        array: &ArrayCore,
        volume: VolumeInfo,
        render_info: RenderInfo,
        measurements: Measurements,
    ) -> Self {
        let adapter = world.gpu().adapter();
        let (chunks, owners) = (array.chunks(), array.ownership());
        let idle = (0..world.size()).filter(|&rank| owners.of_rank(rank).next().is_none()).count();
        Self {
            volume,
            adapter: json!({
                "name": adapter.name,
                "backend": format!("{:?}", adapter.backend),
                "type": format!("{:?}", adapter.device_type),
                "driver": adapter.driver,
                "spread_over": adapter.spread_over,
            }),
            adapter_name: adapter.to_string(),
            transport: world.group().kind().to_string(),
            ranks: world.size(),
            idle,
            chunks: chunks.count(),
            grid: chunks.grid().map(|grid| grid.to_vec()).unwrap_or_default(),
            render_info,
            measurements,
        }
    }

    /// Maximum allowed difference between the picture and the picture of one rank.
    pub fn bound(&self) -> f64 {
        self.render_info.bound()
    }

    /// True unless the comparison with one rank exceeds its bound.
    pub fn passes(&self, outcome: &Outcome) -> bool {
        outcome.single.is_none_or(|difference| difference.max_abs <= self.bound())
    }

    /// The report as a JSON object.
    pub fn json(&self, outcome: &Outcome) -> Value {
        let Measurements { times, frames, pipelines, .. } = &self.measurements;
        let secs = |phase: Phase| (phase.names().0.to_string(), json!(times.phases[phase as usize]));
        let mut timings: serde_json::Map<String, Value> = Phase::ALL.into_iter().map(secs).collect();
        timings.insert("first_frame".into(), json!(times.first_frame));
        timings.insert("later_frame".into(), json!(times.later_frame()));
        timings.insert("frame".into(), json!(self.measurements.frame_secs()));
        timings.insert("total".into(), json!(outcome.total_secs));
        let moved = self.measurements.traffic_per_frame();
        let mut all = json!({
            "input": {
                "name": self.volume.name,
                "type": self.volume.kind.name(),
                "components": self.volume.components,
                "shape": self.volume.shape,
                "origin": self.volume.grid.origin,
                "spacing": self.volume.grid.spacing,
                "directions": self.volume.grid.directions,
                "values": [self.volume.range.0, self.volume.range.1],
                "slope": self.volume.rescale.slope,
                "intercept": self.volume.rescale.intercept,
                "nan": self.volume.statistics.nan,
                "infinite": self.volume.statistics.infinite,
            },
            "output": outcome.output,
            "empty": !self.volume.is_visible,
            "notes": self.volume.notes(),
            "size": [outcome.size.0, outcome.size.1],
            "frames": frames,
            "adapter": self.adapter,
            "ranks": self.ranks,
            "idle_ranks": self.idle,
            "transport": self.transport,
            "chunks": self.chunks,
            "grid": self.grid,
            "mode": self.render_info.mode,
            "layers": self.render_info.layers,
            "cells_per_rank": self.measurements.cells,
            "timings_secs": timings,
            "pipelines": {"compile": pipelines[0], "prepare": pipelines[1], "frames": pipelines[2]},
            "composite_per_frame": {
                "bytes_local": moved.bytes_local,
                "bytes_network": moved.bytes_network,
                "messages": moved.messages,
                "rounds": moved.rounds,
            },
        });
        if let Some(difference) = outcome.single {
            all["max_abs"] = json!(difference.max_abs);
            all["max_abs_bound"] = json!(self.bound());
            all["psnr_db"] = psnr_to_json(&difference);
            all["agrees"] = json!(self.passes(outcome));
        }
        if let Some((name, difference)) = &outcome.reference {
            let psnr_db = psnr_to_json(difference);
            all["reference"] = json!({"name": name, "max_abs": difference.max_abs, "psnr_db": psnr_db});
        }
        all
    }

    /// Returns the report as text for a person.
    pub fn text(&self, outcome: &Outcome) -> String {
        let VolumeInfo { kind, components, shape: [x, y, z], grid: Grid { spacing, .. }, range, .. } = &self.volume;
        let name = escape_name(&self.volume.name);
        let each = if *components == 1 { String::new() } else { format!("{components} x ") };
        let grid = if self.grid.is_empty() { "boxes".into() } else { format!("{:?}", self.grid) };
        let idle = if self.idle == 0 { String::new() } else { format!(", {} of them idle", self.idle) };
        let mut lines = vec![
            format!(
                "volume     {name}: {x} x {y} x {z} {each}{kind}, spacing {spacing:?}, values {} to {}",
                format_number(range.0),
                format_number(range.1)
            ),
            format!("ranks      {} ({}){idle}, rank 0 on {}", self.ranks, self.transport, self.adapter_name),
            format!(
                "chunks     {} ({grid}), render_info as {} layers{}",
                self.chunks,
                self.render_info.layers,
                self.cast_cells_text()
            ),
        ];
        lines.extend(Phase::ALL.into_iter().map(|phase| self.phase_line(phase, outcome)));
        lines.push(time_line(
            "first",
            self.measurements.times.first_frame,
            "the first frame",
            &self.late_pipelines_text(),
        ));
        lines
            .extend(self.measurements.times.later_frame().map(|secs| time_line("later", secs, "a frame after it", "")));
        let (width, height) = outcome.size;
        let frames = match self.measurements.frames {
            1 => String::new(),
            frames => format!("{frames} frames, "),
        };
        let secs = self.measurements.frame_secs();
        lines.push(format!(
            "picture    {} ({width} x {height}), {frames}{secs:.4} s a frame",
            escape_name(&outcome.output)
        ));
        if let Some(Difference { max_abs, psnr_db }) = outcome.single {
            let relation = if self.passes(outcome) { "agrees with" } else { "DIFFERS from" };
            let most = self.bound();
            lines.push(format!(
                "one rank   the picture {relation} the picture of one rank: max_abs {max_abs:.3e} (at most {most:e}), psnr {psnr_db:.1} dB"
            ));
        }
        if let Some((name, difference)) = &outcome.reference {
            let name = escape_name(name);
            lines.push(format!("reference  {name}: psnr {:.2} dB", difference.psnr_db));
        }
        lines.extend(self.volume.notes().into_iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }

    /// Range of the numbers of cells that the ranks cast for the last frame.
    fn cast_cells_text(&self) -> String {
        let cells = &self.measurements.cells;
        let (Some(least), Some(most)) = (cells.iter().min(), cells.iter().max()) else { return String::new() };
        match cells.len() {
            1 => format!(", {most} cells cast"),
            _ => format!(", {least} to {most} cells cast by a rank"),
        }
    }

    fn phase_line(&self, phase: Phase, outcome: &Outcome) -> String {
        let (secs, bytes) = (self.measurements.times.phases[phase as usize], self.volume.bytes());
        let pixels = (outcome.size.0 * outcome.size.1) as f64 * f64::from(self.measurements.frames);
        let note = match phase {
            Phase::Compile => format!("{} pipelines", self.measurements.pipelines[0]),
            Phase::Read => format!("{}, {}/s", format_mib(bytes), format_mib(bytes / secs)),
            Phase::Cast => format!("{:.2} million rays/s", pixels / secs / 1e6),
            Phase::Composite => {
                let moved = self.measurements.traffic_per_frame();
                let (local, network) = (format_mib(moved.bytes_local as f64), format_mib(moved.bytes_network as f64));
                format!("a frame: {local} within ranks, {network} in {} messages", moved.messages)
            }
            _ => String::new(),
        };
        let (short, long) = phase.names();
        time_line(short, secs, long, &note)
    }

    /// Note about pipelines that were created during frames and increase their times.
    fn late_pipelines_text(&self) -> String {
        match self.measurements.pipelines[2] {
            0 => String::new(),
            late => format!("{late} pipelines were created in frames"),
        }
    }
}

fn time_line(short: &str, secs: f64, long: &str, note: &str) -> String {
    format!("{short:<10} {secs:>9.4} s  {long:<37} {note}").trim_end().to_string()
}

fn escape_name(name: &str) -> String {
    shown(std::path::Path::new(name))
}

/// Number in decimal or, if that is long, in exponential notation.
fn format_number(number: f64) -> String {
    if number == 0.0 || (1e-4..1e15).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

fn format_mib(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / f64::from(1 << 20))
}
