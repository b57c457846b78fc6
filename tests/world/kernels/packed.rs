//! Cells of 8 and 16 bits: unpacked by loads, stored as whole words or one by one with atomics.

use std::fmt::Debug;

use zippy::array::ChunkRef;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Element, Kernel, KernelSource, Layout, Result, Split, World};

use super::wgsl::{part, shift, shifted, tuple};
use crate::support;

trait Small: Element + PartialEq + Debug {
    const SIGNED: bool;
    fn of(value: i64) -> Self;
    fn wide(self) -> i32;
}

macro_rules! small {
    ($($int:ty: $signed:literal),*) => {$(
        impl Small for $int {
            const SIGNED: bool = $signed;
            fn of(value: i64) -> Self {
                value as $int
            }
            fn wide(self) -> i32 {
                self.into()
            }
        }
    )*};
}
small!(u8: false, i8: true, u16: false, i16: true);

const WEIGHTS: [i64; 5] = [1, 37, 1009, 17_389, 5];

/// Number of a position; its low bits depend on every axis.
fn code(at: &Index) -> i64 {
    at.iter().zip(WEIGHTS).fold(0, |sum, (&x, weight)| sum + (x + 8) * weight)
}

/// WGSL text of [`code`] for the global coordinates of the position `p`.
fn code_wgsl(axes: usize) -> String {
    let weights = WEIGHTS;
    let term = |axis: usize| format!("({} + 8) * {}", part("g", axes, axis), weights[axis]);
    (0..axes).map(term).collect::<Vec<_>>().join(" + ")
}

fn load_kernel(axes: usize) -> String {
    format!(
        "alias Word = u32; // an alias must not hide that words are packed
@group(0) @binding(0) var<storage, read> x: array<Word>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<uniform> shift: array<vec4<i32>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = y_position(id);
  if !y_inside(p) {{ return; }}
  let q = {};
  if x_has(q) {{ y_store(p, i32(x_load(q))); }} else {{ y_store(p, -100000); }}
}}
",
        shifted(axes)
    )
}

fn store_words_kernel(axes: usize, per_word: usize, value: &str) -> String {
    let next =
        tuple(axes, |axis| if axis == 0 { format!("{} + k", part("p", axes, 0)) } else { part("p", axes, axis) });
    format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = x_position(id);
  if !x_inside_word(p) {{ return; }}
  var cells: vec{per_word}<{value}>;
  for (var k = 0; k < {per_word}; k++) {{
    let g = x_global({next});
    cells[k] = {value}(~({}));
  }}
  x_store_word(p, cells);
}}
",
        code_wgsl(axes)
    )
}

fn store_cells_kernel(axes: usize, value: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = x_position(id);
  if !x_inside(p) {{ return; }}
  let g = x_global(p);
  x_store(p, {value}(~({})));
}}
",
        code_wgsl(axes)
    )
}

/// Checks all stored cells of a chunk: only the cells in `written` have changed.
fn check_unchanged_cells<T: Small, const D: usize>(
    chunk: &ChunkRef<T, D>,
    written: &Region,
    label: &str,
) -> Result<()> {
    let everywhere = chunk.with_ghosts();
    for (p, got) in everywhere.region()?.points().zip(everywhere.read()?) {
        let expected = T::of(if written.contains(&p) { !code(&p) } else { code(&p) });
        assert_eq!(got, expected, "{label} of {} over {written:?}: {p:?}", T::INFO.name);
    }
    Ok(())
}

fn write_codes<T: Small, const D: usize>(chunk: &ChunkRef<T, D>) -> Result<()> {
    let everywhere = chunk.with_ghosts();
    everywhere.write(&everywhere.region()?.points().map(|p| T::of(code(&p))).collect::<Vec<_>>())
}

struct Kernels {
    load: Kernel,
    words: Kernel,
    cells: Kernel,
}

fn check_loads_and_stores<T: Small, const D: usize>(world: &World, kernels: &Kernels, layout: &Layout) -> Result<()> {
    let x = world.array::<T, D>("x", layout)?;
    let y = world.array::<i32, D>("y", layout)?;
    for (chunk, out) in zippy::zip_chunks((&x, &y))? {
        write_codes(&chunk)?;
        let (own, storage) = (chunk.region(), chunk.with_ghosts().region()?);
        for by in [0, -1, 3] {
            let by = [by; D];
            kernels.load.call().read("x", chunk.all()).write("y", out.all()).param("shift", shift(&by)).run()?;
            for (p, got) in own.points().zip(out.all().read()?) {
                let q = p + Index::from(by);
                let expected = if storage.contains(&q) { T::of(code(&q)).wide() } else { -100_000 };
                assert_eq!(got, expected, "{} loaded at {q:?}", T::INFO.name);
            }
        }
        // Sections that begin and end inside words.
        let narrow = |lo: i64, hi: i64| {
            let (start, end) = (own.start, Index::from_fn(D, |axis| (own.end[axis] - hi).max(own.start[axis])));
            Region::between(Index::from_fn(D, |axis| (start[axis] + lo).min(end[axis])), end)
        };
        for section in [own, storage, narrow(1, 0), narrow(0, 1), narrow(3, 2)] {
            for (kernel, label) in [(&kernels.words, "words"), (&kernels.cells, "cells")] {
                kernel.call().write("x", chunk.at_global(section)).run()?;
                check_unchanged_cells(&chunk, &section, label)?;
                write_codes(&chunk)?;
            }
        }
        kernels.words.call().write("x", chunk.all()).over(chunk.interior()).run()?;
        kernels.words.call().write("x", chunk.boundary()).run()?;
        check_unchanged_cells(&chunk, &own, "interior and boundary")?;
    }
    Ok(())
}

fn check_all_layouts<T: Small>() {
    support::ranks(&[1, 3], |world| {
        let value = if T::SIGNED { "i32" } else { "u32" };
        let kernels = |axes| {
            let kernel = |name: &str, text| world.kernel(KernelSource::text(format!("{name}.wgsl"), text));
            Ok::<_, zippy::Error>(Kernels {
                load: kernel("load", load_kernel(axes))?,
                words: kernel("words", store_words_kernel(axes, 4 / T::INFO.bytes, value))?,
                cells: kernel("cells", store_cells_kernel(axes, value))?,
            })
        };
        let one = kernels(1)?;
        for ghost in 0..=5 {
            check_loads_and_stores::<T, 1>(
                world,
                &one,
                &Layout::new([61]).split([Split::Sizes(vec![23, 0, 1, 37])]).ghost([ghost]),
            )?;
        }
        let three = kernels(3)?;
        for ghost in [[(0, 0); 3], [(1, 1); 3], [(2, 3), (1, 0), (0, 1)], [(3, 2), (0, 2), (1, 1)]] {
            let layout = Layout::new([19, 4, 3]).split([Split::Sizes(vec![7, 12]), Split::Even(2), Split::Whole]);
            check_loads_and_stores::<T, 3>(world, &three, &layout.ghost_sides(ghost))?;
        }
        let five = kernels(5)?;
        let layout = Layout::new([11, 2, 3, 2, 2]).split([2, 1, 1, 1, 2].map(Split::Even));
        check_loads_and_stores::<T, 5>(world, &five, &layout.ghost_sides([(2, 1), (0, 1), (1, 0), (0, 0), (1, 1)]))
    });
}

#[test]
fn kernels_load_and_store_unsigned_bytes() {
    check_all_layouts::<u8>();
}

#[test]
fn kernels_load_and_store_signed_bytes() {
    check_all_layouts::<i8>();
}

#[test]
fn kernels_load_and_store_unsigned_16_bit_integers() {
    check_all_layouts::<u16>();
}

#[test]
fn kernels_load_and_store_signed_16_bit_integers() {
    check_all_layouts::<i16>();
}
