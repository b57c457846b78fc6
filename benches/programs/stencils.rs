//! Stencil programs: wave equation, Jacobi, Gauss–Seidel, blur and advection.

use zippy::device::Device;
use zippy::{GlobalArray, Kernel, Layout, Result, Split, World, include_wgsl};

use super::hand_written::{Bordered, HandWritten, kernels};
use super::values::{Values, hash_at};
use super::{Program, Row};

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "wave equation",
        peer: "wave",
        sizes: &[2048, 512],
        on_request: None,
        axes: 2,
        bytes: 12,
        start: |world, n| Ok(Box::new(Wave::new(world, n)?)),
        by_hand: Some(wave_by_hand),
    },
    Row {
        name: "Jacobi with a norm",
        peer: "jacobi",
        sizes: &[160, 64],
        on_request: None,
        axes: 3,
        bytes: 16,
        start: |world, n| Ok(Box::new(Jacobi::new(world, n)?)),
        by_hand: Some(jacobi_by_hand),
    },
    Row {
        name: "red-black Gauss-Seidel",
        peer: "gauss_seidel",
        sizes: &[2048, 512],
        on_request: None,
        axes: 2,
        bytes: 12,
        start: |world, n| Ok(Box::new(GaussSeidel::new(world, n)?)),
        by_hand: Some(gauss_seidel_by_hand),
    },
    Row {
        name: "separable blur",
        peer: "blur",
        sizes: &[2048, 512],
        on_request: None,
        axes: 2,
        bytes: 16,
        start: |world, n| Ok(Box::new(Blur::new(world, n)?)),
        by_hand: Some(blur_by_hand),
    },
    Row {
        name: "advection with limiter",
        peer: "advection",
        sizes: &[160, 64],
        on_request: None,
        axes: 3,
        bytes: 8,
        start: |world, n| Ok(Box::new(Advection::new(world, n)?)),
        by_hand: Some(advection_by_hand),
    },
];

struct Wave<'w> {
    world: &'w World,
    old: GlobalArray<f32, 2>,
    now: GlobalArray<f32, 2>,
    next: GlobalArray<f32, 2>,
    kernel: Kernel,
}

impl<'w> Wave<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto).ghost([1, 1]);
        let [old, now, next] = ["old", "now", "next"].map(|name| world.array::<f32, 2>(name, &layout));
        let (old, now, next) = (old?, now?, next?);
        now.fill_with(|p| hash_at(0, n, p))?;
        old.fill_with(|p| hash_at(1, n, p))?;
        let kernel = world.kernel(include_wgsl!("wave.wgsl"))?;
        Ok(Self { world, old, now, next, kernel })
    }
}

impl Program for Wave<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.ghosts(&self.now)?;
        for (old, now, next) in zippy::zip_chunks((&self.old, &self.now, &self.next))? {
            self.kernel.call().read("old", old.all()).read("now", now.all()).write("next", next.all()).run()?;
        }
        std::mem::swap(&mut self.old, &mut self.now);
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.now)
    }
}

fn wave_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 2, border: 1 };
    let [old, now] = [1, 0].map(|array| kernels.buffer(&grid.hashed(array)));
    let next = kernels.buffer(&vec![0_f32; grid.stored()]);
    let pipeline = kernels.pipeline(include_str!("../reference/programs/wave.wgsl"));
    for [old, now, next] in [[&old, &now, &next], [&now, &next, &old], [&next, &old, &now]] {
        kernels.step().dispatch(&pipeline, &[old, now, next, &n], grid.groups());
    }
    HandWritten::new(kernels, &[&next, &old, &now], grid.cells())
}

struct Jacobi<'w> {
    world: &'w World,
    b: GlobalArray<f32, 3>,
    now: GlobalArray<f32, 3>,
    next: GlobalArray<f32, 3>,
    residual: GlobalArray<f32, 3>,
    kernel: Kernel,
    norm: f64,
}

impl<'w> Jacobi<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n, n]).split_all(Split::Auto).ghost([1, 1, 1]);
        let array = |name| world.array::<f32, 3>(name, &layout);
        let (b, now, next, residual) = (array("b")?, array("now")?, array("next")?, array("residual")?);
        b.fill_with(|p| hash_at(0, n, p))?;
        now.fill_with(|p| hash_at(1, n, p))?;
        let kernel = world.kernel(include_wgsl!("jacobi.wgsl"))?;
        Ok(Self { world, b, now, next, residual, kernel, norm: 0.0 })
    }
}

impl Program for Jacobi<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.ghosts(&self.now)?;
        for (b, now, next, residual) in zippy::zip_chunks((&self.b, &self.now, &self.next, &self.residual))? {
            let call = self.kernel.call().read("b", b.all()).read("now", now.all());
            call.write("next", next.all()).write("residual", residual.all()).run()?;
        }
        self.norm = self.world.norm(&self.residual)?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::of_array(self.world, &self.now)?.with_scalar(self.norm))
    }
}

fn jacobi_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 3, border: 1 };
    let [b, now] = [0, 1].map(|array| kernels.buffer(&grid.hashed(array)));
    let [next, residual] = [(); 2].map(|()| kernels.buffer(&vec![0_f32; grid.stored()]));
    let pipeline = kernels.pipeline(include_str!("../reference/programs/jacobi.wgsl"));
    for [now, next] in [[&now, &next], [&next, &now]] {
        kernels.step().dispatch(&pipeline, &[&b, now, next, &residual, &n], grid.groups());
    }
    kernels.read_after_step(&residual);
    HandWritten::new(kernels, &[&next, &now], grid.cells())
}

struct GaussSeidel<'w> {
    world: &'w World,
    b: GlobalArray<f32, 2>,
    u: GlobalArray<f32, 2>,
    kernel: Kernel,
}

impl<'w> GaussSeidel<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto).ghost([1, 1]);
        let (b, u) = (world.array::<f32, 2>("b", &layout)?, world.array::<f32, 2>("u", &layout)?);
        b.fill_with(|p| hash_at(0, n, p))?;
        u.fill_with(|p| hash_at(1, n, p))?;
        let kernel = world.kernel(include_wgsl!("gauss_seidel.wgsl"))?;
        Ok(Self { world, b, u, kernel })
    }
}

impl Program for GaussSeidel<'_> {
    fn step(&mut self) -> Result<()> {
        for colour in [0, 1] {
            self.world.ghosts(&self.u)?;
            for (b, u) in zippy::zip_chunks((&self.b, &self.u))? {
                self.kernel.call().read("b", b.all()).update("u", u.all()).param("colour", colour).run()?;
            }
        }
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.u)
    }
}

fn gauss_seidel_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 2, border: 1 };
    let [b, u] = [0, 1].map(|array| kernels.buffer(&grid.hashed(array)));
    let pipeline = kernels.pipeline(include_str!("../reference/programs/gauss_seidel.wgsl"));
    let colours = [0, 1].map(|colour| kernels.uniform(colour));
    kernels.step();
    for colour in &colours {
        kernels.dispatch(&pipeline, &[&b, &u, &n, colour], grid.groups());
    }
    HandWritten::new(kernels, &[&u], grid.cells())
}

struct Blur<'w> {
    world: &'w World,
    image: GlobalArray<f32, 2>,
    blurred: GlobalArray<f32, 2>,
    kernel: Kernel,
}

impl<'w> Blur<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto).ghost([5, 5]);
        let image = world.array::<f32, 2>("image", &layout)?;
        let blurred = world.array::<f32, 2>("blurred", &layout)?;
        image.fill_with(|p| hash_at(0, n, p))?;
        let kernel = world.kernel(include_wgsl!("blur.wgsl"))?;
        Ok(Self { world, image, blurred, kernel })
    }
}

impl Program for Blur<'_> {
    fn step(&mut self) -> Result<()> {
        for along in [[1, 0], [0, 1]] {
            self.world.ghosts(&self.image)?;
            for (image, blurred) in zippy::zip_chunks((&self.image, &self.blurred))? {
                let call = self.kernel.call().read("image", image.all()).write("blurred", blurred.all());
                call.param("along", along).run()?;
            }
            std::mem::swap(&mut self.image, &mut self.blurred);
        }
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.image)
    }
}

fn blur_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 2, border: 5 };
    let image = kernels.buffer(&grid.hashed(0));
    let blurred = kernels.buffer(&vec![0_f32; grid.stored()]);
    let pipeline = kernels.pipeline(include_str!("../reference/programs/blur.wgsl"));
    let [along_x, along_y] = [1, edge as u32 + 10].map(|stride| kernels.uniform(stride));
    kernels.step().dispatch(&pipeline, &[&image, &blurred, &n, &along_x], grid.groups());
    kernels.dispatch(&pipeline, &[&blurred, &image, &n, &along_y], grid.groups());
    HandWritten::new(kernels, &[&image], grid.cells())
}

/// Velocity in cells per step.
const VELOCITY: [f32; 3] = [0.3, -0.2, 0.1];

struct Advection<'w> {
    world: &'w World,
    now: GlobalArray<f32, 3>,
    next: GlobalArray<f32, 3>,
    kernel: Kernel,
}

impl<'w> Advection<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n, n]).split_all(Split::Auto).ghost([2, 2, 2]);
        let (now, next) = (world.array::<f32, 3>("now", &layout)?, world.array::<f32, 3>("next", &layout)?);
        now.fill_with(|p| hash_at(0, n, p))?;
        let kernel = world.kernel(include_wgsl!("advection.wgsl"))?;
        Ok(Self { world, now, next, kernel })
    }
}

impl Program for Advection<'_> {
    fn step(&mut self) -> Result<()> {
        self.world.ghosts(&self.now)?;
        for (now, next) in zippy::zip_chunks((&self.now, &self.next))? {
            let call = self.kernel.call().read("now", now.all()).write("next", next.all());
            call.param("velocity", VELOCITY).run()?;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.now)
    }
}

fn advection_by_hand(gpu: &Device, edge: usize) -> HandWritten {
    let (mut kernels, n) = kernels(gpu, edge);
    let grid = Bordered { edge, axes: 3, border: 2 };
    let now = kernels.buffer(&grid.hashed(0));
    let next = kernels.buffer(&vec![0_f32; grid.stored()]);
    let pipeline = kernels.pipeline(include_str!("../reference/programs/advection.wgsl"));
    let [x, y, z] = VELOCITY;
    let velocity = kernels.uniform([x, y, z, 0.0]);
    for [now, next] in [[&now, &next], [&next, &now]] {
        kernels.step().dispatch(&pipeline, &[now, next, &n, &velocity], grid.groups());
    }
    HandWritten::new(kernels, &[&next, &now], grid.cells())
}
