//! Ordinary programs as README and examples show them, next to the same kernels by hand with wgpu,
//! NumPy and plain C.

mod common;
mod programs;
mod reference;

use zippy::Result;

use common::{Path, on_ranks};
use programs::{dense, grids, measure, points, reductions, stencils};
use reference::ordinary::Ordinary;

pub fn main() -> Result<()> {
    let about = "Ordinary programs, a step at two sizes each: y += a x, conjugate gradients, wave equation, Jacobi with a norm, \
                 red-black Gauss-Seidel, a separable blur, advection with a limiter, D2Q9, game of life, matrix times vector, \
                 all pairs, an epidemic on a graph, particles, masked sums, reductions and a histogram. Each beside the same \
                 kernels by hand with wgpu on one device (benches/reference/programs/), and under cargo xtask bench --peers \
                 beside NumPy and C (benches/peers/programs.py, programs.c), which use all cores. All contenders must \
                 compute the same values. With several ranks also the growth of the process during 1,000 steps of the smaller size. \
                 --only 16384 adds the game of life of 16384^2 cells.";
    on_ranks("ranks_programs", about, &[Path::Mapped], |run| {
        let mut peers = if run.world.rank() == 0 { Ordinary::start_all() } else { [None, None] };
        let rows = [grids::ROWS, stencils::ROWS, dense::ROWS, points::ROWS, reductions::ROWS];
        rows.into_iter().flatten().try_for_each(|row| measure(run, &mut peers, row))
    })
}
