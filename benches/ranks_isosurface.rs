//! Isosurface extraction, compared with one pass over the samples and with VTK and scikit-image.

mod common;
mod reference;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::Instant;

use serde_json::json;
use zippy::region::Region;
use zippy::{GlobalArray, Layout, Result, Split};
use zippy_isosurface::{Extractor, Grid, Mesh, Sample, statistics};

use common::{Case, ChunkAccess, Run, contender, on_ranks};
use reference::surfaces::Surfaces;

/// Other implementations: the reported name, and the name in peers/isosurface.py.
const OTHERS: [(&str, &str); 3] = [
    ("VTK, Flying Edges", "flying-edges"),
    ("VTK, Marching Cubes", "marching-cubes"),
    ("scikit-image", "scikit-image"),
];

pub(crate) fn main() -> Result<()> {
    let about = "Isosurfaces of the tangle function at 256^3 and 512^3 (f32) and of the scans engine and bonsai \
                 (../shared/data, 8 bits): cold (builds the tree of bricks), with a changed isovalue, with normals, and \
                 with eleven isovalues one by one and at once. Each is compared with reading all samples once. Memory in \
                 addition to the samples of the first field. With cargo xtask bench --peers, runs with one rank are also \
                 compared with VTK and scikit-image, including the Euler characteristics.";
    on_ranks("ranks_isosurface", about, &[ChunkAccess::Mapped], |run| {
        for (n, isovalue) in [(256, 0.2), (512, 0.2)] {
            if is_selected(run, &format!("tangle {n}")) {
                let value = |[x, y, z]: [i64; 3]| {
                    let along = |i: i64| 3.0 * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
                    let term = |i: i64| along(i).powi(4) - 5.0 * along(i) * along(i);
                    ((term(x) + term(y) + term(z) + 11.8) * 0.2 + 0.5) as f32
                };
                let subject = Subject { name: format!("tangle {n}"), shape: [n; 3], isovalue, kind: "float32" };
                subject.measure(run, |region| Ok(region.points().map(|at| value([at[0], at[1], at[2]])).collect()))?;
            }
        }
        for (name, isovalue) in [("engine", 105.37), ("bonsai", 37.37)] {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../shared/data/{name}.nrrd"));
            if file.exists() && is_selected(run, name) {
                let file = zippy_io::volume::open(file)?;
                let shape = std::array::from_fn(|axis| file.shape()[axis]);
                let subject = Subject { name: name.into(), shape, isovalue, kind: "uint8" };
                subject.measure(run, |region| Ok(file.read_region::<u8>(region)?))?;
            }
        }
        Ok(())
    })
}

const CASES: [&str; 7] = [
    "cold",
    "changed isovalue",
    "changed isovalue, normals",
    "eleven isovalues",
    "eleven isovalues at once",
    "memory",
    "Euler characteristic",
];

fn is_selected(run: &Run<'_>, subject: &str) -> bool {
    CASES.iter().any(|case| run.options.selects(&run.named(&format!("{subject}, {case}"))))
}

struct Subject {
    name: String,
    shape: [i64; 3],
    isovalue: f32,
    /// Type of the samples in peers/isosurface.py.
    kind: &'static str,
}

impl Subject {
    fn measure<T: Sample>(&self, run: &Run<'_>, read: impl Fn(&Region) -> Result<Vec<T>>) -> Result<()> {
        let world = run.world;
        let layout = Layout::new(self.shape).split_all(Split::Auto).ghost_sides([(1, 2); 3]);
        let field = world.array::<T, 3>(&self.name, &layout)?;
        for chunk in field.chunks() {
            let samples = read(&chunk.region())?;
            chunk.all().write(&samples)?;
        }
        world.ghosts(&field)?;
        let peers = std::env::var_os(reference::vtk::PYTHON_VARIABLE).is_some() && world.size() == 1;
        let others = peers.then(|| {
            let all = read(&Region::whole(zippy::extents::Index::new(&self.shape)))?;
            Surfaces::start(bytemuck::cast_slice(&all), self.kind, self.shape).map_err(zippy::Error::program)
        });
        let others = others.transpose()?.map(RefCell::new);
        self.memory(run, &field)?;
        self.speed(run, &field, &others)?;
        self.counts(run, &field, &others)
    }

    /// A new isovalue close to [`Subject::isovalue`] for each call.
    fn changed(&self, turn: &Cell<u32>) -> f32 {
        turn.set((turn.get() + 1) % 64);
        self.isovalue * (1.0 + 1e-4 * turn.get() as f32)
    }

    fn speed<T: Sample>(
        &self,
        run: &Run<'_>,
        field: &GlobalArray<T, 3>,
        others: &Option<RefCell<Surfaces>>,
    ) -> Result<()> {
        let world = run.world;
        let (plain, shaded) =
            (Extractor::new(world, field, Grid::default())?, Extractor::with_normals(world, field, Grid::default())?);
        let turn = Cell::new(0);
        let extract = |extractor: &Extractor<'_, T>| -> Result<Mesh> { extractor.extract(self.changed(&turn)) };
        // Reuses the memory of the previous mesh.
        let kept = [Mesh::default(), Mesh::default()].map(RefCell::new);
        let again = |extractor: &Extractor<'_, T>, kept: &RefCell<Mesh>| -> Result<()> {
            extractor.extract_into(self.changed(&turn), &mut kept.borrow_mut())
        };
        let mut reading = Vec::new();
        for chunk in field.chunks() {
            reading.push(chunk.all().read()?);
        }
        type Work<'a> = Box<dyn FnMut() -> Result<()> + 'a>;
        let eleven = || {
            let first = self.changed(&turn);
            std::array::from_fn::<f32, 11, _>(|layer| first * (1.0 + 0.01 * layer as f32))
        };
        let cases: [(&str, bool, Work<'_>); 5] = [
            (CASES[0], false, Box::new(|| extract(&Extractor::new(world, field, Grid::default())?).map(drop))),
            (CASES[1], false, Box::new(|| again(&plain, &kept[0]))),
            (CASES[2], true, Box::new(|| again(&shaded, &kept[1]))),
            // Keeps all meshes, like the next case.
            (
                CASES[3],
                false,
                Box::new(|| {
                    eleven().map(|isovalue| plain.extract(isovalue)).into_iter().collect::<Result<Vec<_>>>().map(drop)
                }),
            ),
            (CASES[4], false, Box::new(|| plain.extract_several(&eleven()).map(drop))),
        ];
        for (case_name, normals, work) in cases {
            let unnamed = format!("{}, {case_name}", self.name);
            let name = run.named(&unnamed);
            if !run.options.selects(&name) {
                continue;
            }
            let cells = self.shape.iter().product::<i64>() as u64;
            let case = Case {
                name: &unnamed,
                bytes: cells * T::INFO.bytes as u64 / world.size() as u64,
                cells: Some(cells),
                target: None,
            };
            let sum = || {
                // Lower limit of an extraction without a tree.
                let bytes: &[&[u8]] = &reading.iter().map(|samples| bytemuck::cast_slice(samples)).collect::<Vec<_>>();
                let sum = |bytes: &&[u8]| {
                    bytes.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ u64::from_ne_bytes(*word))
                };
                std::hint::black_box(bytes.iter().map(sum).fold(0, |total, chunk| total ^ chunk));
                Ok(())
            };
            run.measure(case, vec![contender("zippy", work), contender("reading the samples", sum)])?;
            if case_name == CASES[1] {
                self.shares(run, &plain, &turn)?;
            }
            // The other implementations extract one isovalue at a time.
            if case_name != CASES[3] && case_name != CASES[4] {
                self.report_others(run, &name, normals, others)?;
            }
        }
        Ok(())
    }

    /// Reports the shares of an extraction's time:
    ///
    /// * computing: the mean over the ranks;
    /// * overhead: the remaining time of the rank that waits least, for boundary lists, messages
    ///   and agreement;
    /// * waiting: the additional remaining time of the other ranks, on average.
    fn shares<T: Sample>(&self, run: &Run<'_>, extractor: &Extractor<'_, T>, turn: &Cell<u32>) -> Result<()> {
        let world = run.world;
        let (mut mesh, mut shares) = (Mesh::default(), [const { Vec::new() }; 3]);
        for _ in 0..run.options.samples().min(15) {
            world.barrier()?;
            let start = Instant::now();
            extractor.extract_into(self.changed(turn), &mut mesh)?;
            world.barrier()?;
            let all = start.elapsed().as_secs_f64();
            let computed = extractor.computed().as_secs_f64();
            let (mut sum, mut least) = ([computed], [all - computed]);
            world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
            world.group().all_reduce(&mut least, |least, other| *least = least.min(*other))?;
            let mean = sum[0] / world.size() as f64;
            let parts = [mean, least[0], (all - mean - least[0]).max(0.0)];
            shares.iter_mut().zip(parts).for_each(|(share, part)| share.push(part / all));
        }
        if world.rank() == 0 {
            let [compute, overhead, waiting] = shares.map(|share| common::Spread::of(&share).median);
            let percent = |share: f64| 100.0 * share;
            println!(
                "    shares: {:.0} % computing, {:.0} % overhead, {:.0} % waiting",
                percent(compute),
                percent(overhead),
                percent(waiting)
            );
            let case = run.named(&format!("{}, changed isovalue, shares", self.name));
            run.add(json!({ "case": case, "compute": compute, "overhead": overhead, "waiting": waiting }));
        }
        Ok(())
    }

    /// The other process measures the times.
    fn report_others(
        &self,
        run: &Run<'_>,
        name: &str,
        normals: bool,
        others: &Option<RefCell<Surfaces>>,
    ) -> Result<()> {
        let Some(others) = others else { return Ok(()) };
        for (about, by) in OTHERS {
            let once = || others.borrow_mut().secs(by, self.isovalue, normals).map_err(zippy::Error::program);
            let secs = (0..5).map(|_| once()).collect::<Result<Vec<_>>>()?;
            let spread = common::Spread::of(&secs);
            let speed = self.shape.iter().product::<i64>() as f64 / spread.median / 1e6;
            println!(
                "    {about:<32} {:>11.1} us [{:.1}, {:.1}] {speed:>8.1} Mcells/s",
                1e6 * spread.median,
                1e6 * spread.low,
                1e6 * spread.high
            );
            run.add(json!({ "case": name, "by": about, "secs": spread.median, "about": others.borrow().about }));
        }
        Ok(())
    }

    /// Only for the first field, because later fields reuse freed memory.
    fn memory<T: Sample>(&self, run: &Run<'_>, field: &GlobalArray<T, 3>) -> Result<()> {
        let name = run.named(&format!("{}, memory", self.name));
        if self.name != "tangle 256" || !run.options.selects(&name) {
            return Ok(());
        }
        let mut output = [0_u64];
        let used = run.peak_memory(|| {
            let mesh = Extractor::new(run.world, field, Grid::default())?.extract(self.isovalue)?;
            output = [(mesh.positions().len() * 12 + mesh.triangles().len() * 12 + mesh.ghosts().len() * 8) as u64];
            Ok(())
        })?;
        run.world.group().all_reduce(&mut output, |sum, more| *sum += more)?;
        let samples = self.shape.iter().product::<i64>() as f64;
        if let Some(resident) = used.resident.filter(|_| run.world.rank() == 0) {
            let [all, without_mesh] =
                [resident, resident.saturating_sub(output[0])].map(|bytes| bytes as f64 / samples);
            println!("{name}: {all:.2} bytes a sample, {without_mesh:.2} without the mesh");
            run.add(json!({ "case": name, "bytes_per_sample": all, "without_mesh": without_mesh }));
        }
        Ok(())
    }

    fn counts<T: Sample>(
        &self,
        run: &Run<'_>,
        field: &GlobalArray<T, 3>,
        others: &Option<RefCell<Surfaces>>,
    ) -> Result<()> {
        let Some(others) = others else { return Ok(()) };
        let mesh = Extractor::new(run.world, field, Grid::default())?.extract(self.isovalue)?;
        let found = statistics(run.world, &mesh)?;
        println!("{}: Euler characteristics at {}, not padded", self.name, self.isovalue);
        println!("    {:<32} {:>8}   {} vertices, {} triangles", "zippy", found.euler, found.vertices, found.triangles);
        for (about, by) in OTHERS {
            let theirs = others.borrow_mut().counts(by, self.isovalue).map_err(zippy::Error::program)?;
            println!(
                "    {about:<32} {:>8}   {} vertices, {} triangles",
                theirs["euler"], theirs["vertices"], theirs["triangles"]
            );
            run.add(json!({ "case": format!("{}, Euler characteristic", self.name), "by": about, "theirs": theirs, "ours": found.euler }));
        }
        Ok(())
    }
}
