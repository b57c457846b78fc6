//! Dense programs: matrix times vector, and gravity between all pairs of bodies.

use zippy::device::Device;
use zippy::{GlobalArray, Kernel, KernelSource, Layout, LocalArray, Result, Split, World};

use super::super::reference::programs::KernelCycle;
use super::hand_written::{Bordered, HandWritten};
use super::values::{Values, hash, hash_at};
use super::{Program, Row};

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "matrix times vector",
        peer: "matrix",
        sizes: &[2048, 512],
        on_request: None,
        axes: 2,
        bytes: 4,
        start: |world, n| Ok(Box::new(Matrix::new(world, n)?)),
        by_hand: Some(matrix_by_hand),
    },
    Row {
        name: "all pairs",
        peer: "bodies",
        sizes: &[8192, 1024],
        on_request: None,
        axes: 2,
        bytes: 0,
        start: |world, n| Ok(Box::new(Bodies::new(world, n)?)),
        by_hand: Some(bodies_by_hand),
    },
];

fn with_edge(edge: impl std::fmt::Display, text: &str) -> String {
    format!("const N = {edge};\n{text}")
}

struct Matrix<'w> {
    world: &'w World,
    matrix: GlobalArray<f32, 2>,
    /// The whole vector on each rank.
    x: LocalArray<f32, 1>,
    y: GlobalArray<f32, 1>,
    kernel: Kernel,
    scale: f32,
}

impl<'w> Matrix<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let rows = Split::Even(world.size());
        let matrix = world.array::<f32, 2>("matrix", &Layout::new([n, n]).split([Split::Whole, rows.clone()]))?;
        let x = world.local_array::<f32, 1>("x", &Layout::new([n]))?;
        let y = world.array::<f32, 1>("y", &Layout::new([n]).split([rows]))?;
        matrix.fill_with(|p| hash_at(0, n, p))?;
        x.all().fill_with(|[i]| hash(1, i as u64))?;
        let text = with_edge(n, include_str!("matrix.wgsl"));
        let kernel = world.kernel(KernelSource::text("matrix.wgsl", text))?;
        Ok(Self { world, matrix, x, y, kernel, scale: 2.0 / n as f32 })
    }
}

impl Program for Matrix<'_> {
    fn step(&mut self) -> Result<()> {
        let (matrix, y) = (self.matrix.local()?, self.y.local()?);
        let call = self.kernel.call().read("matrix", matrix.all()).read("x", self.x.all());
        call.write("y", y.all()).param("scale", self.scale).run()?;
        self.world.copy(self.y.at(..), self.x.all())?;
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.y)
    }
}

fn matrix_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let mut kernels = KernelCycle::new(gpu);
    let matrix = kernels.buffer(&Bordered { edge, axes: 2, border: 0 }.hashed(0));
    let vector = Bordered { edge, axes: 1, border: 0 };
    let (x, y) = (kernels.buffer(&vector.hashed(1)), kernels.buffer(&vec![0_f32; edge]));
    let text = include_str!("../reference/programs/matrix.wgsl");
    let pipeline = kernels.pipeline(&with_edge(format!("{edge}u"), text));
    for [x, y] in [[&x, &y], [&y, &x]] {
        kernels.step().dispatch(&pipeline, &[&matrix, x, y], [(edge as u32).div_ceil(64), 1, 1]);
    }
    HandWritten::new(kernels, &[&y, &x], vector.cells())
}

struct Bodies<'w> {
    world: &'w World,
    /// Positions and masses of all bodies on each rank.
    others: LocalArray<[f32; 4], 1>,
    bodies: GlobalArray<[f32; 4], 1>,
    velocities: GlobalArray<[f32; 4], 1>,
    kernel: Kernel,
}

fn body(index: u64, count: f32) -> [f32; 4] {
    let [x, y, z, mass] = [0, 1, 2, 3].map(|array| hash(array, index));
    [x, y, z, mass / count]
}

impl<'w> Bodies<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n]).split([Split::Auto]);
        let others = world.local_array::<[f32; 4], 1>("others", &Layout::new([n]))?;
        let bodies = world.array::<[f32; 4], 1>("bodies", &layout)?;
        let velocities = world.array::<[f32; 4], 1>("velocities", &layout)?;
        bodies.fill_with(|[i]| body(i as u64, n as f32))?;
        let text = with_edge(n, include_str!("bodies.wgsl"));
        let kernel = world.kernel(KernelSource::text("bodies.wgsl", text))?;
        Ok(Self { world, others, bodies, velocities, kernel })
    }
}

impl Program for Bodies<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.copy(self.bodies.at(..), self.others.all())?;
        for (bodies, velocities) in zippy::zip_chunks((&self.bodies, &self.velocities))? {
            let call = self.kernel.call().read("others", self.others.all()).update("bodies", bodies.all());
            call.update("velocities", velocities.all()).param("dt", 0.001_f32).run()?;
        }
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_elements(self.world, &self.bodies, |[x, y, z, _]| [x, y, z].map(f64::from))
    }
}

fn bodies_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let mut kernels = KernelCycle::new(gpu);
    let bodies: Vec<_> = (0..edge as u64).map(|index| body(index, edge as f32)).collect();
    let [now, next] = [(); 2].map(|()| kernels.buffer(&bodies));
    let velocities = kernels.buffer(&vec![[0_f32; 4]; edge]);
    let text = include_str!("../reference/programs/bodies.wgsl");
    let pipeline = kernels.pipeline(&with_edge(format!("{edge}u"), text));
    for [now, next] in [[&now, &next], [&next, &now]] {
        kernels.step().dispatch(&pipeline, &[now, next, &velocities], [(edge as u32).div_ceil(64), 1, 1]);
    }
    // The weighted sums exclude the masses.
    let number = |(index, &word): (usize, &u32)| if index % 4 < 3 { f32::from_bits(word).into() } else { 0.0 };
    HandWritten::new(kernels, &[&next, &now], move |words| words.iter().enumerate().map(number).collect())
}
