//! What happened and how fast: for people, and as JSON.

use serde_json::{Value, json};
use zippy::Grid;
use zippy::World;
use zippy::array::ArrayCore;
use zippy_io::image::Difference;
use zippy_io::volume::ScalarKind;
use zippy_io::{said, shown};
use zippy_render::volume::{Mode, Rescale};

use super::measured::Measured;
use super::phase::Phase;
use super::source::Source;
use super::units::Found;

/// What is in the volume.
#[derive(Debug, Clone)]
pub struct Voxels {
    name: String,
    kind: ScalarKind,
    components: usize,
    shape: [i64; 3],
    grid: Grid,
    /// The smallest and the largest finite value.
    range: (f64, f64),
    /// What the file says that numbers stand for.
    rescale: Rescale,
    found: Found,
    /// Notes of the file's reader.
    file_notes: Vec<String>,
    /// Whether any pixel shows anything.
    seen: bool,
    /// The isovalue of a surface.
    isovalue: Option<f64>,
}

impl Voxels {
    pub fn of(source: &Source, found: &Found, range: (f64, f64), seen: bool, isovalue: Option<f64>) -> Self {
        let (name, kind, components) = (source.name(), source.kind(), source.components());
        let (shape, grid, rescale) = (source.shape(), source.grid(), source.rescale());
        let file_notes = source.notes();
        Self { name, kind, components, shape, grid, range, rescale, found: *found, file_notes, seen, isovalue }
    }

    /// What somebody has to know who trusts the picture.
    fn notes(&self) -> Vec<String> {
        let Found { all, nan, infinite, far, .. } = self.found;
        let mut notes: Vec<String> = self.file_notes.iter().map(|note| said(note)).collect();
        if self.rescale != Rescale::default() {
            let Rescale { slope, intercept } = self.rescale;
            notes.push(format!("values are {slope} * stored number + {intercept}, as the file says"));
        }
        let left_out = [(nan, "NaN"), (infinite, "infinite"), (far, "as far from 0 as 1e30 or further")];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let counts = left_out.map(|(count, what)| format!("{count} are {what}")).collect::<Vec<_>>().join(", ");
        if nan + infinite + far == all {
            notes.push(format!("the volume has no useful number: of {all}, {counts}"));
        } else if !counts.is_empty() {
            let drawn =
                "NaN and what lies below the values is drawn as the smallest of them, what lies above as the largest";
            notes.push(format!("of {all} numbers, {counts}; {drawn}"));
        }
        let (least, most) = self.range;
        if let Some(isovalue) = self.isovalue.filter(|isovalue| *isovalue <= least || *isovalue > most) {
            notes.push(format!("no surface of the isovalue {isovalue}: the values are from {least} to {most}"));
        }
        if !self.seen {
            notes.push("no pixel shows anything: look at the transfer function, the cuts and the camera".into());
        }
        notes
    }

    fn bytes(&self) -> f64 {
        self.shape.iter().product::<i64>() as f64 * self.kind.bytes() as f64 * self.components as f64
    }
}

/// How the volume was drawn.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub mode: Mode,
    /// Layers of the last frame.
    pub layers: usize,
    /// How far early ends of rays may change a picture.
    pub termination: f32,
}

impl Drawn {
    /// How far a picture may be from that of one rank: in fast mode rays are cut elsewhere, so that they end elsewhere
    /// and sums are rounded otherwise.
    pub fn bound(&self) -> f64 {
        match self.mode {
            Mode::Reproducible => 0.0,
            Mode::Fast => (2e-6 + f64::from(self.termination)).max(4e-6),
        }
    }
}

/// Everything there is to say about one rendering.
#[derive(Debug, Clone)]
pub struct Report {
    voxels: Voxels,
    adapter: Value,
    adapter_name: String,
    transport: String,
    ranks: usize,
    idle: usize,
    chunks: usize,
    grid: Vec<i64>,
    drawn: Drawn,
    measured: Measured,
}

/// What is said about the picture that was written.
pub struct Verdict {
    pub size: (usize, usize),
    pub output: String,
    pub total_secs: f64,
    /// Against one rank.
    pub single: Option<Difference>,
    /// Against a given picture.
    pub reference: Option<(String, Difference)>,
}

/// Null where nothing differs at all: JSON has no infinity.
fn psnr(difference: &Difference) -> Value {
    Some(difference.psnr_db).filter(|db| db.is_finite()).into()
}

impl Report {
    pub fn new(world: &World, volume: &ArrayCore, voxels: Voxels, drawn: Drawn, measured: Measured) -> Self {
        let adapter = world.gpu().adapter();
        let (chunks, owners) = (volume.chunks(), volume.ownership());
        let idle = (0..world.size()).filter(|&rank| owners.of_rank(rank).next().is_none()).count();
        Self {
            voxels,
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
            drawn,
            measured,
        }
    }

    /// How far the picture may be from that of one rank.
    pub fn bound(&self) -> f64 {
        self.drawn.bound()
    }

    /// Whether the picture is as good as that of one rank.
    pub fn passes(&self, verdict: &Verdict) -> bool {
        verdict.single.is_none_or(|difference| difference.max_abs <= self.bound())
    }

    /// One line of JSON.
    pub fn json(&self, verdict: &Verdict) -> Value {
        let Measured { times, frames, pipelines, .. } = &self.measured;
        let secs = |phase: Phase| (phase.names().0.to_string(), json!(times.phases[phase as usize]));
        let mut timings: serde_json::Map<String, Value> = Phase::ALL.into_iter().map(secs).collect();
        timings.insert("first_frame".into(), json!(times.first));
        timings.insert("later_frame".into(), json!(times.later_frame()));
        timings.insert("frame".into(), json!(self.measured.frame_secs()));
        timings.insert("total".into(), json!(verdict.total_secs));
        let moved = self.measured.per_frame();
        let mut all = json!({
            "input": {
                "name": self.voxels.name,
                "type": self.voxels.kind.name(),
                "components": self.voxels.components,
                "shape": self.voxels.shape,
                "origin": self.voxels.grid.origin,
                "spacing": self.voxels.grid.spacing,
                "directions": self.voxels.grid.directions,
                "values": [self.voxels.range.0, self.voxels.range.1],
                "slope": self.voxels.rescale.slope,
                "intercept": self.voxels.rescale.intercept,
                "nan": self.voxels.found.nan,
                "infinite": self.voxels.found.infinite,
            },
            "output": verdict.output,
            "empty": !self.voxels.seen,
            "notes": self.voxels.notes(),
            "size": [verdict.size.0, verdict.size.1],
            "frames": frames,
            "adapter": self.adapter,
            "ranks": self.ranks,
            "idle_ranks": self.idle,
            "transport": self.transport,
            "chunks": self.chunks,
            "grid": self.grid,
            "mode": self.drawn.mode,
            "layers": self.drawn.layers,
            "cells_per_rank": self.measured.cells,
            "timings_secs": timings,
            "pipelines": {"compile": pipelines[0], "prepare": pipelines[1], "frames": pipelines[2]},
            "composite_per_frame": {
                "bytes_local": moved.bytes_local,
                "bytes_network": moved.bytes_network,
                "messages": moved.messages,
                "rounds": moved.rounds,
            },
        });
        if let Some(difference) = verdict.single {
            all["max_abs"] = json!(difference.max_abs);
            all["max_abs_bound"] = json!(self.bound());
            all["psnr_db"] = psnr(&difference);
            all["agrees"] = json!(self.passes(verdict));
        }
        if let Some((name, difference)) = &verdict.reference {
            let psnr_db = psnr(difference);
            all["reference"] = json!({"name": name, "max_abs": difference.max_abs, "psnr_db": psnr_db});
        }
        all
    }

    /// Lines for people.
    pub fn text(&self, verdict: &Verdict) -> String {
        let Voxels { kind, components, shape: [x, y, z], grid: Grid { spacing, .. }, range, .. } = &self.voxels;
        let name = terminal(&self.voxels.name);
        let each = if *components == 1 { String::new() } else { format!("{components} x ") };
        let grid = if self.grid.is_empty() { "boxes".into() } else { format!("{:?}", self.grid) };
        let idle = if self.idle == 0 { String::new() } else { format!(", {} of them without a part", self.idle) };
        let mut lines = vec![
            format!(
                "volume     {name}: {x} x {y} x {z} {each}{kind}, spacing {spacing:?}, values {} to {}",
                short(range.0),
                short(range.1)
            ),
            format!("ranks      {} ({}){idle}, rank 0 on {}", self.ranks, self.transport, self.adapter_name),
            format!("chunks     {} ({grid}), drawn as {} layers{}", self.chunks, self.drawn.layers, self.shares()),
        ];
        lines.extend(Phase::ALL.into_iter().map(|phase| self.line(phase, verdict)));
        lines.push(row("first", self.measured.times.first, "the first frame", &self.late()));
        lines.extend(self.measured.times.later_frame().map(|secs| row("later", secs, "a frame after it", "")));
        let (width, height) = verdict.size;
        let frames = match self.measured.frames {
            1 => String::new(),
            frames => format!("{frames} frames, "),
        };
        let secs = self.measured.frame_secs();
        lines.push(format!(
            "picture    {} ({width} x {height}), {frames}{secs:.4} s a frame",
            terminal(&verdict.output)
        ));
        if let Some(Difference { max_abs, psnr_db }) = verdict.single {
            let found = if self.passes(verdict) { "agrees with" } else { "DIFFERS from" };
            let most = self.bound();
            lines.push(format!(
                "one rank   the picture {found} that of one rank: max_abs {max_abs:.3e} (at most {most:e}), psnr {psnr_db:.1} dB"
            ));
        }
        if let Some((name, difference)) = &verdict.reference {
            let name = terminal(name);
            lines.push(format!("reference  {name}: psnr {:.2} dB", difference.psnr_db));
        }
        lines.extend(self.voxels.notes().into_iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }

    /// How the work of casting was shared.
    fn shares(&self) -> String {
        let cells = &self.measured.cells;
        let (Some(least), Some(most)) = (cells.iter().min(), cells.iter().max()) else { return String::new() };
        match cells.len() {
            1 => format!(", {most} cells cast"),
            _ => format!(", {least} to {most} cells cast by a rank"),
        }
    }

    /// What is said of a phase.
    fn line(&self, phase: Phase, verdict: &Verdict) -> String {
        let (secs, bytes) = (self.measured.times.phases[phase as usize], self.voxels.bytes());
        let pixels = (verdict.size.0 * verdict.size.1) as f64 * f64::from(self.measured.frames);
        let note = match phase {
            Phase::Compile => format!("{} pipelines", self.measured.pipelines[0]),
            Phase::Read => format!("{}, {}/s", mib(bytes), mib(bytes / secs)),
            Phase::Cast => format!("{:.2} million rays/s", pixels / secs / 1e6),
            Phase::Composite => {
                let moved = self.measured.per_frame();
                let (local, network) = (mib(moved.bytes_local as f64), mib(moved.bytes_network as f64));
                format!("a frame: {local} on the spot, {network} in {} messages", moved.messages)
            }
            _ => String::new(),
        };
        let (short, long) = phase.names();
        row(short, secs, long, &note)
    }

    /// What is said of pipelines that were compiled too late to be told apart from frames.
    fn late(&self) -> String {
        match self.measured.pipelines[2] {
            0 => String::new(),
            late => format!("{late} pipelines were made in frames"),
        }
    }
}

/// A line about something that took so long.
fn row(short: &str, secs: f64, long: &str, note: &str) -> String {
    format!("{short:<10} {secs:>9.4} s  {long:<37} {note}").trim_end().to_string()
}

/// The name of a file, whatever is in it.
fn terminal(name: &str) -> String {
    shown(std::path::Path::new(name))
}

/// A number without rows of zeros.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-4..1e15).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

fn mib(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / f64::from(1 << 20))
}
