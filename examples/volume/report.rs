//! What happened and how fast: for people, and as JSON.

use serde_json::{Value, json};
use zippy::algorithms::image::Difference;
use zippy::chunks::Chunks;
use zippy::extents::Index;
use zippy::io::volume::ScalarKind;
use zippy::{Moved, Result, World};

/// The parts of the job, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Start,
    Open,
    Read,
    Ghosts,
    Prepare,
    Cast,
    Composite,
    Fetch,
    Write,
}

impl Phase {
    pub const COUNT: usize = 9;
    const ALL: [Self; Self::COUNT] = [
        Self::Start,
        Self::Open,
        Self::Read,
        Self::Ghosts,
        Self::Prepare,
        Self::Cast,
        Self::Composite,
        Self::Fetch,
        Self::Write,
    ];

    /// Its name in the report, and what is done in it.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Start => ("start", "starting the ranks and their devices"),
            Self::Open => ("open", "opening the volume and the scene"),
            Self::Read => ("read", "reading each rank's part"),
            Self::Ghosts => ("ghosts", "exchanging ghost cells"),
            Self::Prepare => ("prepare", "making the pictures' arrays"),
            Self::Cast => ("cast", "casting rays through the chunks"),
            Self::Composite => ("composite", "blending the partial pictures"),
            Self::Fetch => ("fetch", "reading the picture back"),
            Self::Write => ("write", "writing the file"),
        }
    }

    /// What is done after it.
    pub fn next(self) -> &'static str {
        Self::ALL.get(self as usize + 1).map_or("", |next| next.names().1)
    }
}

/// What was measured: on one rank, then over all of them.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Seconds of each phase; over all ranks: of the slowest.
    pub secs: [f64; Phase::COUNT],
    /// What the ghost update moved; over all ranks: the sum, but rounds.
    pub ghosts: Moved,
    /// What blending moved.
    pub composite: Moved,
}

impl Measured {
    /// The slowest rank's times and everything that was moved. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn over_ranks(mut self, world: &World) -> Result<Self> {
        world.group().all_reduce(&mut self.secs, |a, b| *a = a.max(*b))?;
        for moved in [&mut self.ghosts, &mut self.composite] {
            let mut sums = [moved.bytes_local, moved.bytes_network, moved.messages];
            world.group().all_reduce(&mut sums, |a, b| *a += b)?;
            let [local, network, messages] = sums;
            *moved = Moved { bytes_local: local, bytes_network: network, messages, ..*moved };
        }
        Ok(self)
    }
}

/// What is in the volume.
#[derive(Debug, Clone)]
pub struct Voxels {
    pub name: String,
    pub kind: ScalarKind,
    pub shape: [i64; 3],
    pub spacing: [f64; 3],
    /// The smallest and the largest finite value.
    pub range: (f64, f64),
}

/// Everything there is to say about one rendering.
#[derive(Debug, Clone)]
pub struct Report {
    voxels: Voxels,
    adapter: Value,
    adapter_name: String,
    transport: String,
    ranks: usize,
    chunks: usize,
    grid: Vec<i64>,
    largest: Index,
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

/// `--compare-single` fails beyond these.
pub const MOST_ABS: f64 = 4e-6;
/// See [`MOST_ABS`].
pub const LEAST_DB: f64 = 140.0;
/// What is reported where nothing differs at all: JSON has no infinity.
const IDENTICAL_DB: f64 = 999.0;

/// Whether a picture is as good as that of one rank.
pub fn passes(difference: Difference) -> bool {
    difference.max_abs <= MOST_ABS && difference.psnr_db >= LEAST_DB
}

impl Report {
    pub fn new(world: &World, chunks: &Chunks, voxels: Voxels, measured: Measured) -> Self {
        let adapter = world.gpu().adapter();
        let extents = (0..chunks.count()).map(|chunk| chunks.region(chunk).extents());
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
            chunks: chunks.count(),
            grid: chunks.grid().map(|grid| grid.to_vec()).unwrap_or_default(),
            largest: extents.max_by_key(|extents| extents.product()).unwrap_or(chunks.shape()),
            measured,
        }
    }

    /// The seconds of the phases in which a picture is made.
    fn frame_secs(&self) -> f64 {
        [Phase::Cast, Phase::Composite, Phase::Fetch].iter().map(|&phase| self.measured.secs[phase as usize]).sum()
    }

    /// One line of JSON.
    pub fn json(&self, verdict: &Verdict) -> Value {
        let secs = |phase: Phase| (phase.names().0.to_string(), json!(self.measured.secs[phase as usize]));
        let mut timings: serde_json::Map<String, Value> = Phase::ALL.into_iter().map(secs).collect();
        timings.insert("frame".into(), json!(self.frame_secs()));
        timings.insert("total".into(), json!(verdict.total_secs));
        let moved = |m: &Moved| json!({"local": m.bytes_local, "network": m.bytes_network, "messages": m.messages});
        let Measured { ghosts, composite, .. } = &self.measured;
        let both = Moved {
            bytes_local: ghosts.bytes_local + composite.bytes_local,
            bytes_network: ghosts.bytes_network + composite.bytes_network,
            messages: ghosts.messages + composite.messages,
            ..*ghosts
        };
        let mut bytes = moved(&both);
        bytes["ghosts"] = moved(ghosts);
        bytes["composite"] = moved(composite);
        let mut all = json!({
            "input": {
                "name": self.voxels.name,
                "type": self.voxels.kind.name(),
                "shape": self.voxels.shape,
                "spacing": self.voxels.spacing,
                "values": [self.voxels.range.0, self.voxels.range.1],
            },
            "output": verdict.output,
            "size": [verdict.size.0, verdict.size.1],
            "adapter": self.adapter,
            "ranks": self.ranks,
            "transport": self.transport,
            "chunks": self.chunks,
            "grid": self.grid,
            "timings_secs": timings,
            "bytes": bytes,
        });
        if let Some(difference) = verdict.single {
            all["max_abs"] = json!(difference.max_abs);
            all["psnr_db"] = json!(difference.psnr_db.min(IDENTICAL_DB));
            all["agrees"] = json!(passes(difference));
        }
        if let Some((name, difference)) = &verdict.reference {
            let psnr_db = difference.psnr_db.min(IDENTICAL_DB);
            all["reference"] = json!({"name": name, "max_abs": difference.max_abs, "psnr_db": psnr_db});
        }
        all
    }

    /// Lines for people.
    pub fn text(&self, verdict: &Verdict) -> String {
        let Voxels { name, kind, shape, spacing, range } = &self.voxels;
        let [x, y, z] = shape;
        let mut lines = vec![
            format!(
                "volume     {name}: {x} x {y} x {z} {kind}, spacing {spacing:?}, values {} to {}",
                range.0, range.1
            ),
            format!("ranks      {} ({}), rank 0 on {}", self.ranks, self.transport, self.adapter_name),
            format!(
                "chunks     {} ({:?}), the largest {} voxels, one ghost layer",
                self.chunks, self.grid, self.largest
            ),
        ];
        let voxels = shape.iter().product::<i64>() as f64;
        let bytes = voxels * kind.bytes() as f64;
        let pixels = (verdict.size.0 * verdict.size.1) as f64;
        let sent = |moved: &Moved| {
            let (local, network) = (mib(moved.bytes_local as f64), mib(moved.bytes_network as f64));
            format!("{local} on the spot, {network} in {} messages", moved.messages)
        };
        for phase in Phase::ALL {
            let secs = self.measured.secs[phase as usize];
            let note = match phase {
                Phase::Read => format!("{}, {}/s", mib(bytes), mib(bytes / secs)),
                Phase::Ghosts => sent(&self.measured.ghosts),
                Phase::Cast => format!("{:.2} million rays/s", pixels / secs / 1e6),
                Phase::Composite => sent(&self.measured.composite),
                _ => String::new(),
            };
            let (short, long) = phase.names();
            lines.push(format!("{short:<10} {secs:>9.4} s  {long:<37} {note}").trim_end().to_string());
        }
        let (width, height) = verdict.size;
        lines.push(format!("picture    {} ({width} x {height}), {:.4} s a frame", verdict.output, self.frame_secs()));
        if let Some(difference) = verdict.single {
            let found = if passes(difference) { "agrees with" } else { "DIFFERS from" };
            lines.push(format!(
                "one rank   the picture {found} that of one rank: max_abs {:.3e} (at most {MOST_ABS:e}), psnr {:.1} dB (at \
                 least {LEAST_DB})",
                difference.max_abs, difference.psnr_db
            ));
        }
        if let Some((name, difference)) = &verdict.reference {
            lines.push(format!("reference  {name}: psnr {:.2} dB", difference.psnr_db));
        }
        lines.join("\n")
    }
}

fn mib(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / f64::from(1 << 20))
}
