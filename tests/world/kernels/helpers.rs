//! Generated helpers for 1 to 7 axes, ghost widths, chunks and sections, compared with their
//! definition.

use zippy::array::{ChunkRef, LocalSection};
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, Kernel, KernelSource, Layout, Result, Split, World};

use super::wgsl::{part, shift, shifted, tuple};
use crate::support;

/// Kernel that calls all helpers of `x` for the position `p + shift`, for every cell `p` of the two
/// written arrays.
fn helper_calls_kernel(axes: usize) -> String {
    let mut hash = String::new();
    for helper in ["x_extent()", "x_shape()", "x_global(q)"] {
        hash += &format!("  {{ var t = {helper};\n");
        for axis in 0..axes {
            hash += &format!("    h = mix(h, u32({}));\n", part("t", axes, axis));
        }
        hash += "  }\n";
    }
    for axis in 0..axes {
        hash += &format!("  {{ let wide = x_global_axis(q, {axis}u); h = mix(mix(h, wide.x), wide.y); }}\n");
    }
    format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> values: array<vec2<u32>>;
@group(0) @binding(3) var<uniform> shift: array<vec4<i32>, 2>;
fn mix(h: u32, v: u32) -> u32 {{ return (h ^ v) * 16777619u; }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = places_position(id);
  if !places_inside(p) {{ return; }}
  let q = {};
  let flags = select(0u, 1u, x_inside(q)) | select(0u, 2u, x_has(q)) | select(0u, 4u, x_owned(q));
  var value = 0u;
  if x_has(q) {{
    value = x_load(q);
    if x[x_index(q)] != value {{ value = ~value; }}
  }}
  places_store(p, vec4<u32>(x_linear(q), flags, value));
  var h = 2166136261u;
{hash}  values_store(p, vec2<u32>(h, 1u));
}}
",
        shifted(axes)
    )
}

/// Kernel that stores the index of the invocation's cell at `p + shift`.
fn helper_stores_kernel(axes: usize) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@group(0) @binding(1) var<uniform> shift: array<vec4<i32>, 2>;
@compute @workgroup_size(32, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = x_position(id);
  if x_inside(p) {{ x_store({}, x_linear(p).x + 1u); }}
}}
",
        shifted(axes)
    )
}

/// Value of a position, unique in a small array with its ghost cells.
fn code(at: &Index) -> u32 {
    at.iter().fold(0, |code, &x| code * 23 + (x + 8) as u32)
}

fn mix(hash: u32, value: u32) -> u32 {
    (hash ^ value).wrapping_mul(16_777_619)
}

/// Expected results of the helpers for the global position `q`.
fn expected_results<const D: usize>(
    x: &GlobalArray<u32, D>,
    chunk: &ChunkRef<u32, D>,
    section: &Region,
    q: Index,
) -> [u32; 5] {
    let storage = x.core().chunks().storage(chunk.id());
    let linear = (0..D).rev().fold(0_i64, |sum, axis| sum * x.shape()[axis] + q[axis]);
    let flag = |region: &Region, bit: u32| if region.contains(&q) { bit } else { 0 };
    let flags = flag(section, 1) | flag(&storage, 2) | flag(&chunk.region(), 4);
    let mut hash = 2_166_136_261;
    for tuple in [section.extents(), x.shape().into(), q] {
        hash = tuple.iter().fold(hash, |hash, &v| mix(hash, v as u32));
    }
    hash = q.iter().fold(hash, |hash, &v| mix(mix(hash, v as u32), (v >> 32) as u32));
    let value = if storage.contains(&q) { code(&q) } else { 0 };
    [linear as u32, (linear >> 32) as u32, flags, value, hash]
}

struct Case<'a, const D: usize> {
    ask: &'a Kernel,
    store: &'a Kernel,
    x: &'a GlobalArray<u32, D>,
    places: &'a GlobalArray<[u32; 4], D>,
    values: &'a GlobalArray<[u32; 2], D>,
}

/// Smaller box inside `of`; different `which` give different boxes.
fn smaller_box(of: &Region, which: i64) -> Region {
    let mut region = *of;
    for axis in 0..of.axes() {
        let length = region.extents()[axis];
        region.start[axis] += (which + axis as i64) % 2 * i64::from(length > 2);
        region.end[axis] -= (which / 2 + axis as i64) % 2 * i64::from(length > 3);
    }
    region
}

impl<const D: usize> Case<'_, D> {
    /// Checks the helpers for the cells of a section of `x`, called from the cells of sections of
    /// the other arrays at the distance `by`.
    fn check_helper_results(
        &self,
        chunk: usize,
        section: LocalSection<u32, D>,
        from: &Region,
        by: [i64; D],
    ) -> Result<()> {
        let x = self.x.chunks().nth(chunk).expect("as many chunks");
        let places = self.places.chunks().nth(chunk).expect("as many chunks");
        let values = self.values.chunks().nth(chunk).expect("as many chunks");
        let none = [u32::MAX; 4];
        let everywhere = places.with_ghosts();
        everywhere.write(&vec![none; everywhere.region()?.cells() as usize])?;
        self.ask
            .call()
            .write("places", places.at_global(from))
            .write("values", values.at_global(from))
            .read("x", &section)
            .param("shift", shift(&by))
            .run()?;
        let hashes = values.at_global(from).read()?;
        let section = section.region()?;
        for (p, got) in everywhere.region()?.points().zip(everywhere.read()?) {
            if !from.contains(&p) {
                assert_eq!(got, none, "{p:?} is outside {from:?}");
                continue;
            }
            let q = p - from.start + section.start + Index::from(by);
            let [hash, one] = hashes[from.offset(&p) as usize];
            let [a, b, c, d] = got;
            let expected = expected_results(self.x, &x, &section, q);
            assert_eq!([a, b, c, d, hash], expected, "{D} axes, {section:?} by {by:?} from {from:?}: {q:?}");
            assert_eq!(one, 1);
        }
        Ok(())
    }

    /// Checks stores from every cell of a section to the cell at the distance `by`: ghost cells are
    /// written, positions outside of the storage are ignored.
    fn check_helper_stores(&self, chunk: usize, section: &Region, by: [i64; D]) -> Result<()> {
        let x = self.x.chunks().nth(chunk).expect("as many chunks");
        let everywhere = x.with_ghosts();
        let storage = everywhere.region()?;
        let before: Vec<u32> = storage.points().map(|p| code(&p)).collect();
        self.store.call().write("x", x.at_global(section)).param("shift", shift(&by)).run()?;
        for (p, got) in storage.points().zip(everywhere.read()?) {
            let from = p - Index::from(by);
            let linear = (0..D).rev().fold(0_i64, |sum, axis| sum * self.x.shape()[axis] + from[axis]);
            let expected =
                if section.contains(&from) { (linear + 1) as u32 } else { before[storage.offset(&p) as usize] };
            assert_eq!(got, expected, "{D} axes, stored from {section:?} by {by:?}: {p:?}");
        }
        everywhere.write(&before)
    }
}

fn check_all_helpers<const D: usize>(world: &World, shape: [i64; D], most: i64) -> Result<()> {
    let kernel = |name: &str, text| world.kernel(KernelSource::text(format!("{name}{D}.wgsl"), text));
    let (ask, store) = (kernel("ask", helper_calls_kernel(D))?, kernel("store", helper_stores_kernel(D))?);
    // Axis 0 is divided unevenly with an empty chunk, and the last axis in halves.
    let splits: [Split; D] = std::array::from_fn(|axis| match axis {
        0 => Split::Sizes(vec![(shape[0] + 1) / 2, 0, shape[0] / 2]),
        _ if axis + 1 == D => Split::Even(2),
        _ => Split::Whole,
    });
    let layout = || Layout::new(shape).split(splits.clone());
    let mut ghosts: Vec<[(i64, i64); D]> = (0..=most).map(|width| [(width, width); D]).collect();
    ghosts.push(std::array::from_fn(|axis| (axis as i64 % 3, (axis as i64 + 1) % 2)));
    for ghost in ghosts {
        let x = world.array::<u32, D>("x", &layout().ghost_sides(ghost))?;
        // The written arrays have different ghost widths, and therefore different strides.
        let places = world.array("places", &layout().ghost_sides(ghost.map(|(lo, hi)| (hi, 1 - lo.min(1)))))?;
        let values = world.array("values", &layout())?;
        let case = Case { ask: &ask, store: &store, x: &x, places: &places, values: &values };
        for (number, chunk) in x.chunks().enumerate() {
            let everywhere = chunk.with_ghosts();
            let (own, storage) = (chunk.region(), everywhere.region()?);
            everywhere.write(&storage.points().map(|p| code(&p)).collect::<Vec<_>>())?;
            case.check_helper_results(number, chunk.all(), &own, [0; D])?;
            if own.is_empty() {
                continue;
            }
            case.check_helper_results(number, chunk.all(), &own, ghost.map(|(lo, _)| -lo))?;
            case.check_helper_results(
                number,
                chunk.with_ghosts(),
                &smaller_box(&own, 1),
                ghost.map(|(lo, hi)| lo + hi + 1),
            )?;
            case.check_helper_results(
                number,
                chunk.at_global(smaller_box(&storage, 2)),
                &smaller_box(&own, 2),
                [-1; D],
            )?;
            let far = std::array::from_fn(|axis| if axis % 2 == 0 { -1_000_000_000 } else { 7 });
            case.check_helper_results(number, chunk.at_global(smaller_box(&storage, 3)), &own, far)?;
            case.check_helper_stores(number, &own, ghost.map(|(_, hi)| hi))?;
            case.check_helper_stores(number, &smaller_box(&own, 3), [-1; D])?;
            case.check_helper_stores(number, &smaller_box(&storage, 1), [1; D])?;
        }
    }
    Ok(())
}

/// Runs a program on few numbers of ranks, because helpers do not depend on other ranks.
fn on_ranks(program: impl Fn(&World) -> Result<()> + Send + Sync) {
    support::ranks(&[1, 3], program);
}

#[test]
fn helpers_are_correct_for_one_axis() {
    on_ranks(|world| check_all_helpers(world, [37], 3));
}

#[test]
fn helpers_are_correct_for_two_axes() {
    on_ranks(|world| check_all_helpers(world, [13, 7], 3));
}

#[test]
fn helpers_are_correct_for_three_axes() {
    on_ranks(|world| check_all_helpers(world, [9, 5, 6], 3));
}

#[test]
fn helpers_are_correct_for_four_axes() {
    on_ranks(|world| check_all_helpers(world, [6, 4, 3, 4], 2));
}

#[test]
fn helpers_are_correct_for_five_axes() {
    on_ranks(|world| check_all_helpers(world, [5, 3, 2, 3, 2], 1));
}

#[test]
fn helpers_are_correct_for_six_axes() {
    on_ranks(|world| check_all_helpers(world, [4, 3, 2, 2, 3, 2], 1));
}

#[test]
fn helpers_are_correct_for_seven_axes() {
    on_ranks(|world| check_all_helpers(world, [3, 2, 2, 3, 2, 2, 2], 1));
}

/// Weighted sum of a cell and its neighbours along every axis after a ghost update, over interior
/// and boundary separately.
fn check_stencil<const D: usize>(world: &World, shape: [i64; D], split: [Split; D]) -> Result<()> {
    let mut sum = String::from("x_load(p)");
    for axis in 0..D {
        for (by, weight) in [(-1, 3 * axis + 2), (1, 3 * axis + 3)] {
            let step = |k| format!("{} + {}", part("p", D, k), if k == axis { by } else { 0 });
            sum += &format!(" + {weight}u * x_load({})", tuple(D, step));
        }
    }
    let text = format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = y_position(id);
  if y_inside(p) {{ y_store(p, y_load(p) + {sum}); }}
}}
"
    );
    let kernel = world.kernel(KernelSource::text("stencil.wgsl", text))?;
    let layout = Layout::new(shape).split(split);
    let x = world.array::<u32, D>("x", &layout.clone().ghost([1; D]).periodic([true; D]))?;
    let y = world.array::<u32, D>("y", &layout.ghost([1; D]))?;
    x.fill_with(|p| code(&p.into()))?;
    let run = |a: LocalSection<u32, D>, b, domain| kernel.call().read("x", a).update("y", b).over(domain).run();
    let halo = world.start_ghosts(&x)?;
    for (a, b) in zippy::zip_chunks((&x, &y))? {
        run(a.all(), b.all(), b.interior())?;
    }
    halo.wait()?;
    for (a, b) in zippy::zip_chunks((&x, &y))? {
        run(a.all(), b.all(), b.boundary())?;
    }
    let at = |p: Index| code(&Index::from_fn(D, |axis| p[axis].rem_euclid(shape[axis])));
    for chunk in y.chunks() {
        for (p, got) in chunk.region().points().zip(chunk.all().read()?) {
            let mut expected = at(p);
            for axis in 0..D {
                let step = Index::from_fn(D, |k| i64::from(k == axis));
                let (lower, upper) = (3 * axis as u32 + 2, 3 * axis as u32 + 3);
                expected = expected.wrapping_add(lower.wrapping_mul(at(p - step)));
                expected = expected.wrapping_add(upper.wrapping_mul(at(p + step)));
            }
            assert_eq!(got, expected, "{D} axes, {p:?}");
        }
    }
    Ok(())
}

#[test]
fn stencil_is_equal_for_every_decomposition() {
    support::ranks(support::RANKS, |world| {
        let n = world.size();
        check_stencil(world, [101], [Split::Even(2 * n)])?;
        check_stencil(world, [23, 19], [Split::Even(n), Split::Even(3)])?;
        check_stencil(world, [9, 8, 10], [Split::Sizes(vec![1, 5, 3]), Split::Whole, Split::Even(n)])?;
        check_stencil(world, [5, 3, 4, 6], [Split::Whole, Split::Whole, Split::Even(2), Split::Even(n.min(6))])?;
        check_stencil(world, [4, 3, 2, 3, 5], [2, 1, 1, 1, n.min(5)].map(Split::Even))?;
        check_stencil(world, [3, 2, 3, 2, 3, 4], [1, 2, 1, 1, 1, n.min(4)].map(Split::Even))?;
        check_stencil(world, [2, 3, 2, 2, 1, 3, 3], [1, 1, 2, 1, 1, 1, n.min(3)].map(Split::Even))
    });
}
