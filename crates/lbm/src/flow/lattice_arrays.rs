//! Layouts of arrays on the lattice.

use zippy::{ArrayOptions, Element, GlobalArray, Layout, Ownership, Result, World};

use crate::cut::lattice_layout;
use crate::problem::Problem;

/// Creates an array on the lattice, on the ranks that own the populations of its cells. `parts` are
/// the lengths of the parts of the cut, in words. Collective.
pub(super) fn create_on_lattice<T: Element, const D: usize>(
    world: &World,
    problem: &Problem,
    parts: &[Vec<i64>; 3],
    name: &str,
    layout: &Layout,
) -> Result<GlobalArray<T, D>> {
    match problem.fold_axis() {
        None => world.array(name, layout),
        Some(_) => world.array(name, ArrayOptions::new(layout).owned_by(owners_of_cells(world, problem, parts)?)),
    }
}

pub(super) fn scalar_layout(problem: &Problem, parts: &[Vec<i64>; 3]) -> Layout {
    lattice_layout(&parts_in_cells(problem, parts), None).ghost(ghost_widths(problem)).periodic(periodic_axes(problem))
}

pub(super) fn vector_layout(problem: &Problem, parts: &[Vec<i64>; 3], components: usize) -> Layout {
    let ([gx, gy, gz], [px, py, pz]) = (ghost_widths(problem), periodic_axes(problem));
    lattice_layout(parts, Some(components)).ghost([gx, gy, gz, 0]).periodic([px, py, pz, false])
}

pub(super) fn ghost_widths(problem: &Problem) -> [i64; 3] {
    std::array::from_fn(|axis| (axis < problem.set.axes()).into())
}

pub(super) fn periodic_axes(problem: &Problem) -> [bool; 3] {
    std::array::from_fn(|axis| axis < problem.set.axes() && problem.is_periodic(axis))
}

/// Parts of the lattice in cells: twice as many along the fold axis.
pub(super) fn parts_in_cells(problem: &Problem, parts: &[Vec<i64>; 3]) -> [Vec<i64>; 3] {
    let copies = |axis| if problem.fold_axis() == Some(axis) { 2 } else { 1 };
    std::array::from_fn(|axis| parts[axis].repeat(copies(axis)))
}

fn owners_of_cells(world: &World, problem: &Problem, parts: &[Vec<i64>; 3]) -> Result<Ownership> {
    let counts = [0, 1, 2].map(|axis| parts[axis].len());
    let owners_of_words = Ownership::balanced(counts.iter().product(), world.size());
    let in_cells = parts_in_cells(problem, parts);
    let [nx, ny, nz] = [0, 1, 2].map(|axis| in_cells[axis].len());
    let mut table = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let [x, y, z] = [x % counts[0], y % counts[1], z % counts[2]];
                table.push(owners_of_words.owner(x + counts[0] * (y + counts[1] * z)).rank);
            }
        }
    }
    Ownership::table(table, world.size()).map_err(Into::into)
}
