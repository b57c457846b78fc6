//! Programs on lists: an epidemic on a graph, and particles that move between ranks.

use zippy::array::Growable;
use zippy::{GlobalArray, Kernel, Layout, Result, Split, World, include_wgsl};
use zippy_primitives::Primitives;

use super::values::{Values, hash};
use super::{Program, Row};

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "epidemic on a graph by gather",
        peer: "epidemic",
        sizes: &[1 << 19, 1 << 15],
        on_request: None,
        axes: 1,
        bytes: 72,
        start: |world, n| Ok(Box::new(Epidemic::new(world, n)?)),
        by_hand: None,
    },
    Row {
        name: "particles",
        peer: "particles",
        sizes: &[1 << 20, 1 << 16],
        on_request: None,
        axes: 1,
        bytes: 32,
        start: |world, n| Ok(Box::new(Particles::new(world, n)?)),
        by_hand: None,
    },
];

const NEIGHBOURS: i64 = 8;

struct Epidemic<'w> {
    world: &'w World,
    now: GlobalArray<u32, 1>,
    next: GlobalArray<u32, 1>,
    neighbours: GlobalArray<u32, 1>,
    around: GlobalArray<u32, 1>,
    kernel: Kernel,
    day: u32,
    ill: u64,
}

impl<'w> Epidemic<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let cut = |cells: i64| Layout::new([cells]).split([Split::Even(world.size())]);
        let people = |name| world.array::<u32, 1>(name, &cut(n));
        let pairs = |name| world.array::<u32, 1>(name, &cut(NEIGHBOURS * n));
        let (now, next) = (people("now")?, people("next")?);
        let (neighbours, around) = (pairs("neighbours")?, pairs("around")?);
        now.fill_with(|[i]| u32::from(hash(1, i as u64) < 0.01))?;
        // Six neighbours have close indices, two have any index.
        neighbours.fill_with(|[i]| match i % NEIGHBOURS {
            near @ 0..6 => ((i / NEIGHBOURS + near - 3 + n) % n) as u32,
            _ => (hash(0, i as u64) * n as f32) as u32,
        })?;
        let kernel = world.kernel(include_wgsl!("epidemic.wgsl"))?;
        Ok(Self { world, now, next, neighbours, around, kernel, day: 0, ill: 0 })
    }
}

impl Program for Epidemic<'_> {
    fn step(&mut self) -> Result<()> {
        self.day += 1;
        self.world.vectors().gather(&self.now, &self.neighbours, &self.around)?;
        let (now, around, next) = (self.now.local()?, self.around.local()?, self.next.local()?);
        let call = self.kernel.call().read("now", now.all()).read("around", around.all());
        call.write("next", next.all()).param("day", self.day).run()?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.ill = self.world.vectors().histogram(&self.now, 3)?[1];
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::of_array(self.world, &self.now)?.with_scalar(self.ill as f64))
    }
}

/// Particles in a periodic square. Each particle is on the rank that owns its cell.
struct Particles<'w> {
    world: &'w World,
    particles: Growable<[f32; 4]>,
    to: Growable<u32>,
    density: GlobalArray<u32, 2>,
    push: Kernel,
    deposit: Kernel,
    side: i64,
}

impl<'w> Particles<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let side = ((n as f64).sqrt() as i64 / 4).max(16);
        let (rank, ranks) = (world.rank() as u64, world.size() as u64);
        let particle = |i: u64| {
            let [x, y, vx, vy] = [0, 1, 2, 3].map(|array| hash(array, i));
            [x * side as f32, y * side as f32, vx - 0.5, vy - 0.5]
        };
        let own = (rank * n as u64 / ranks..(rank + 1) * n as u64 / ranks).map(particle);
        let mut particles = world.growable::<[f32; 4]>("particles")?;
        particles.append(&own.collect::<Vec<_>>())?;
        let layout = Layout::new([side, side]).split([Split::Whole, Split::Even(world.size())]);
        let density = world.array::<u32, 2>("density", &layout)?;
        let to = world.growable::<u32>("to")?;
        let (push, deposit) = (include_wgsl!("push.wgsl"), include_wgsl!("deposit.wgsl"));
        let (push, deposit) = (world.kernel(push)?, world.kernel(deposit)?);
        Ok(Self { world, particles, to, density, push, deposit, side })
    }
}

impl Program for Particles<'_> {
    fn step(&mut self) -> Result<()> {
        let ranks = self.world.size() as f32;
        self.to.set_len(self.particles.len())?;
        let call = self.push.call().update("particles", self.particles.all()).write("to", self.to.all());
        let call = call.param("side", self.side as f32).param("last_rank", ranks - 1.0);
        call.param("rows_of_a_rank", self.side as f32 / ranks).run()?;
        self.particles = self.world.deliver("particles", self.particles.all(), self.to.all())?.elements;
        self.density.fill(0)?;
        let (particles, density) = (self.particles.all(), self.density.local()?);
        let call = self.deposit.call().read("particles", particles).update("density", density.all());
        call.over([self.particles.len()]).run()
    }

    fn values(&self) -> Result<Values> {
        Values::of_array(self.world, &self.density)
    }
}
