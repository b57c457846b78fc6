//! Ordinary programs in the style of README and examples, compared with hand-written wgpu, NumPy
//! and C.

mod common;
mod programs;
mod reference;

use zippy::Result;

use common::{ChunkAccess, on_ranks};
use programs::{dense, grids, measure, points, reductions, stencils};
use reference::ordinary::Ordinary;

pub(crate) fn main() -> Result<()> {
    let about = "A step of ordinary programs at two sizes each: y += a x, conjugate gradients, wave equation, Jacobi with a \
                 norm, red-black Gauss-Seidel, separable blur, advection with a limiter, D2Q9, game of life, matrix times \
                 vector, all pairs, epidemic on a graph, particles, masked sums, reductions and a histogram. Each is \
                 compared with the same kernels and hand-written wgpu on one device (benches/reference/programs/), and \
                 with cargo xtask bench --peers also with NumPy and C on all cores (benches/peers/programs.py, \
                 programs.c). All contenders must compute the same values. With several ranks also the growth of the \
                 resident memory during 1,000 steps of the smaller size. --only 16384 adds the game of life with \
                 16384^2 cells.";
    on_ranks("ranks_programs", about, &[ChunkAccess::Mapped], |run| {
        let mut peers = if run.world.rank() == 0 { Ordinary::start_all() } else { [None, None] };
        let rows = [grids::ROWS, stencils::ROWS, dense::ROWS, points::ROWS, reductions::ROWS];
        rows.into_iter().flatten().try_for_each(|row| measure(run, &mut peers, row))
    })
}
