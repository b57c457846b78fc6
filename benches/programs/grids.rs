//! Grid programs: y += a x, conjugate gradients, lattice Boltzmann, and the game of life.

use zippy::algorithms::elementwise::Elementwise;
use zippy::device::Device;
use zippy::{GlobalArray, Kernel, Layout, Result, Split, World, include_wgsl};

use super::hand_written::{Bordered, HandWritten, kernels};
use super::values::{Values, hash, hash_at};
use super::{Program, Row};

const AXPY: Row = Row {
    name: "y += a x by elementwise",
    peer: "axpy",
    sizes: &[2048, 512],
    on_request: Some(8192),
    axes: 2,
    bytes: 12,
    start: |world, n| Ok(Box::new(Axpy::new(world, n)?)),
    by_hand: Some(axpy_by_hand),
};

pub(crate) const ROWS: &[Row] = &[
    AXPY,
    Row { name: "y += a x by a kernel", start: |world, n| Ok(Box::new(AxpyKernel::new(world, n)?)), ..AXPY },
    Row {
        name: "conjugate gradients",
        peer: "cg",
        sizes: &[2048, 512],
        on_request: None,
        axes: 2,
        bytes: 36,
        start: |world, n| Ok(Box::new(ConjugateGradients::new(world, n)?)),
        by_hand: None,
    },
    Row {
        name: "D2Q9",
        peer: "lattice",
        sizes: &[680, 256],
        on_request: None,
        axes: 2,
        bytes: 72,
        start: |world, n| Ok(Box::new(Lattice::new(world, n)?)),
        by_hand: Some(lattice_by_hand),
    },
    Row {
        name: "game of life",
        peer: "life",
        sizes: &[4096, 1024],
        on_request: Some(16384),
        axes: 2,
        bytes: 2,
        start: |world, n| Ok(Box::new(Life::new(world, n)?)),
        by_hand: Some(life_by_hand),
    },
];

struct Axpy<'w> {
    world: &'w World,
    x: GlobalArray<f32, 2>,
    y: GlobalArray<f32, 2>,
    axpy: Elementwise,
}

impl<'w> Axpy<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto);
        let (x, y) = (world.array::<f32, 2>("x", &layout)?, world.array::<f32, 2>("y", &layout)?);
        x.fill_with(|p| hash_at(0, n, p))?;
        y.fill_with(|p| hash_at(1, n, p))?;
        Ok(Self { world, x, y, axpy: world.elementwise("a * x + y") })
    }
}

impl Program for Axpy<'_> {
    fn step(&mut self) -> Result<()> {
        self.axpy.call().read("x", self.x.at(..)).param("a", 0.1_f32).write("y", self.y.at(..))
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.y)
    }
}

struct AxpyKernel<'w> {
    arrays: Axpy<'w>,
    kernel: Kernel,
}

impl<'w> AxpyKernel<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        Ok(Self { arrays: Axpy::new(world, n)?, kernel: world.kernel(include_wgsl!("axpy.wgsl"))? })
    }
}

impl Program for AxpyKernel<'_> {
    fn step(&mut self) -> Result<()> {
        for (x, y) in zippy::zip_chunks((&self.arrays.x, &self.arrays.y))? {
            self.kernel.call().read("x", x.all()).update("y", y.all()).param("a", 0.1_f32).run()?;
        }
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        self.arrays.values()
    }
}

fn axpy_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 2, border: 0 };
    let [x, y] = [0, 1].map(|array| kernels.buffer(&grid.hashed(array)));
    let pipeline = kernels.pipeline(include_str!("../reference/programs/axpy.wgsl"));
    kernels.step().dispatch(&pipeline, &[&x, &y, &n], grid.groups());
    HandWritten::new(kernels, &[&y], grid.cells())
}

struct ConjugateGradients<'w> {
    world: &'w World,
    x: GlobalArray<f32, 2>,
    r: GlobalArray<f32, 2>,
    p: GlobalArray<f32, 2>,
    q: GlobalArray<f32, 2>,
    laplace: Kernel,
    axpy: Elementwise,
    direction: Elementwise,
    squares: f64,
}

impl<'w> ConjugateGradients<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto).ghost([1, 1]);
        let array = |name| world.array::<f32, 2>(name, &layout);
        let (x, r, p, q) = (array("x")?, array("r")?, array("p")?, array("q")?);
        r.fill_with(|at| hash_at(0, n, at))?;
        p.fill_with(|at| hash_at(0, n, at))?;
        let squares = world.dot(&r, &r)?;
        let laplace = world.kernel(include_wgsl!("laplace.wgsl"))?;
        let (axpy, direction) = (world.elementwise("y + a * x"), world.elementwise("r + beta * direction"));
        Ok(Self { world, x, r, p, q, laplace, axpy, direction, squares })
    }
}

impl Program for ConjugateGradients<'_> {
    fn step(&mut self) -> Result<()> {
        let (world, r, p, q) = (self.world, &self.r, &self.p, &self.q);
        world.ghosts(p)?;
        for (p, q) in zippy::zip_chunks((p, q))? {
            self.laplace.call().read("p", p.all()).write("q", q.all()).run()?;
        }
        let alpha = self.squares / world.dot(p, q)?;
        self.axpy.call().read("x", p).param("a", alpha as f32).write("y", &self.x)?;
        self.axpy.call().read("x", q).param("a", -alpha as f32).write("y", r)?;
        let squares = world.dot(r, r)?;
        self.direction.call().read("r", r).param("beta", (squares / self.squares) as f32).write("direction", p)?;
        self.squares = squares;
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::of_array(self.world, &self.x)?.with_scalar(self.squares))
    }
}

const WEIGHTS: [f32; 9] = {
    let (axis, diagonal) = (1.0 / 9.0, 1.0 / 36.0);
    [4.0 / 9.0, axis, axis, axis, axis, diagonal, diagonal, diagonal, diagonal]
};

/// D2Q9 lattice Boltzmann on a square, surrounded by fluid at rest.
struct Lattice<'w> {
    world: &'w World,
    now: GlobalArray<f32, 3>,
    next: GlobalArray<f32, 3>,
    kernel: Kernel,
}

impl<'w> Lattice<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n, 9]).split([Split::Auto, Split::Auto, Split::Whole]).ghost([1, 1, 0]);
        let (now, next) = (world.array::<f32, 3>("now", &layout)?, world.array::<f32, 3>("next", &layout)?);
        for chunk in now.chunks().chain(next.chunks()) {
            chunk.with_ghosts().fill_with(|[_, _, q]| WEIGHTS[q as usize])?;
        }
        now.fill_with(|p| WEIGHTS[p[2] as usize] * (1.0 + 0.1 * hash_at(0, n, p)))?;
        let kernel = world.kernel(include_wgsl!("lattice.wgsl"))?;
        Ok(Self { world, now, next, kernel })
    }
}

impl Program for Lattice<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.ghosts(&self.now)?;
        for (now, next) in zippy::zip_chunks((&self.now, &self.next))? {
            let [x, y, _] = next.extents();
            self.kernel.call().read("now", now.all()).write("next", next.all()).over([x, y]).run()?;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.now)
    }
}

fn lattice_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 2, border: 1 };
    let plane = grid.stored();
    let offsets = move || (0..9).flat_map(move |q| grid.offsets().map(move |offset| q * plane + offset));
    let mut cells: Vec<f32> = WEIGHTS.iter().flat_map(|&weight| vec![weight; plane]).collect();
    let next = kernels.buffer(&cells);
    (0..).zip(offsets()).for_each(|(index, offset)| cells[offset] *= 1.0 + 0.1 * hash(0, index));
    let now = kernels.buffer(&cells);
    let pipeline = kernels.pipeline(include_str!("../reference/programs/lattice.wgsl"));
    for [now, next] in [[&now, &next], [&next, &now]] {
        kernels.step().dispatch(&pipeline, &[now, next, &n], grid.groups());
    }
    let cells = move |words: &[u32]| offsets().map(|offset| f32::from_bits(words[offset]).into()).collect();
    HandWritten::new(kernels, &[&next, &now], cells)
}

struct Life<'w> {
    world: &'w World,
    now: GlobalArray<u8, 2>,
    next: GlobalArray<u8, 2>,
    kernel: Kernel,
}

impl<'w> Life<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto).ghost([1, 1]);
        let (now, next) = (world.array::<u8, 2>("now", &layout)?, world.array::<u8, 2>("next", &layout)?);
        now.fill_with(|p| u8::from(hash_at(0, n, p) < 0.3))?;
        let kernel = world.kernel(include_wgsl!("life.wgsl"))?;
        Ok(Self { world, now, next, kernel })
    }
}

impl Program for Life<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.ghosts(&self.now)?;
        for (now, next) in zippy::zip_chunks((&self.now, &self.next))? {
            self.kernel.call().read("now", now.all()).write("next", next.all()).run()?;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.now)
    }
}

fn life_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    // The border is one word (four cells) at both ends of each row, and one row at both ends.
    let row = edge + 8;
    let offsets = move || (0..edge * edge).map(move |cell| (cell / edge + 1) * row + cell % edge + 4);
    let mut cells = vec![0_u8; row * (edge + 2)];
    let next = kernels.buffer(&cells);
    (0..).zip(offsets()).for_each(|(index, offset)| cells[offset] = u8::from(hash(0, index) < 0.3));
    let now = kernels.buffer(&cells);
    let pipeline = kernels.pipeline(include_str!("../reference/programs/life.wgsl"));
    let groups = [(edge as u32 / 4).div_ceil(64), edge as u32, 1];
    for [now, next] in [[&now, &next], [&next, &now]] {
        kernels.step().dispatch(&pipeline, &[now, next, &n], groups);
    }
    let cells = move |words: &[u32]| {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        offsets().map(|offset| bytes[offset].into()).collect()
    };
    HandWritten::new(kernels, &[&next, &now], cells)
}
