//! Kernels of several kinds over chunks larger than a binding.

use zippy::{KernelSource, Layout, LocalArray, Result, World};

use crate::support;

const WIDTH: i64 = 61;
const HEIGHT: i64 = 150;

/// Value of a cell of `x` by its position.
fn cell([x, y]: [i64; 2]) -> u32 {
    ((x + 8) * 7 + (y + 8) * 1013) as u32
}

fn arrays(world: &World) -> Result<[LocalArray<u32, 2>; 2]> {
    let layout = Layout::new([WIDTH, HEIGHT]).ghost([2, 7]);
    let [x, y] = ["x", "y"].map(|name| world.local_array::<u32, 2>(name, &layout));
    let (x, y) = (x?, y?);
    let cells = x.with_ghosts().region()?.points().map(|p| cell([p[0], p[1]])).collect::<Vec<_>>();
    x.with_ghosts().write(&cells)?;
    Ok([x, y])
}

/// Kernel whose `statements` add cells of `x` to `s`.
fn kernel(statements: &str) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
fn column(q: vec2<i32>, d: i32) -> u32 {{ return x_load(q + vec2(0, d)) + x_load(q - vec2(0, d)); }}
fn forth(q: ptr<function, vec2<i32>>) {{ (*q).y += 1; }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = y_position(id);
    if !y_inside(p) {{ return; }}
    var s = 0u;
    {statements}
    y_store(p, s);
}}
"
    );
    KernelSource::text("parts.wgsl", text)
}

/// Function that returns the expected sum of the cells around a position.
type Definition = fn([i64; 2]) -> u32;

fn column([x, y]: [i64; 2], d: i64) -> u32 {
    cell([x, y + d]) + cell([x, y - d])
}

const KERNELS: [(&str, Definition); 10] = [
    ("s = column(p, 5) + column(p, 0);", |p| column(p, 5) + column(p, 0)),
    (
        "switch p.y % 3 { case 0: { s = x_load(p + vec2(1, 6)); } case 1: { s = column(p, 2); } default: { s = 1u; } }",
        |[x, y]| [cell([x + 1, y + 6]), column([x, y], 2), 1][y as usize % 3],
    ),
    (
        "var q = p; switch p.x % 2 { case 0: { q = p + vec2(0, 7); s = x_load(q); } default: { s = x_load(q); } }",
        |[x, y]| cell([x, y + if x % 2 == 0 { 7 } else { 0 }]),
    ),
    (
        "for (var k = 7u; k > 2u; k -= 2u) { if p.x % 2 == 0 { continue; } s += x_load(p - vec2(0, i32(k))); }",
        |[x, y]| if x % 2 == 0 { 0 } else { [7, 5, 3].map(|k| cell([x, y - k])).iter().sum() },
    ),
    ("for (var k = 0u; k < 3u; k++) { s += x_load(p + vec2(0, i32(max(k - 1u, 1u)))); }", |[x, y]| {
        cell([x, y - 1]) + 2 * cell([x, y + 1])
    }),
    ("for (var k = 1u; k >= 0u; k--) { if k > 9u { break; } s += x_load(p + vec2(0, i32(k))); }", |[x, y]| {
        cell([x, y]) + cell([x, y + 1])
    }),
    (
        "var k = 0; var q = p;
         loop {
             if k < 3 {} else { break; }
             q = p;
             if k == 1 { q.y -= 7; continue; }
             q.y += 1;
             continuing { s += x_load(q); k += 1; }
         }",
        |[x, y]| cell([x, y - 7]) + 2 * cell([x, y + 1]),
    ),
    (
        "var i = 0; let first = i; for (; first < 1; i += 1) { if i > 6 { break; } s += x_load(p - vec2(0, i)); }",
        |[x, y]| (0..7).map(|i| cell([x, y - i])).sum(),
    ),
    ("var q = p; forth(&q); forth(&q); s = x_load(q);", |[x, y]| cell([x, y + 2])),
    (
        "s = x_load(y_position(id + vec3(0u, 3u, 0u)) - vec2(0, 3));",
        |[x, y]| {
            if y < HEIGHT - 3 { cell([x, y]) } else { 0 }
        },
    ),
];

#[test]
fn kernels_with_branches_and_loops_have_the_cells_of_their_definition() {
    support::ranks(&[1, 2], |world| {
        let [x, y] = arrays(world)?;
        for (statements, definition) in KERNELS {
            world.kernel(kernel(statements))?.call().read("x", x.all()).write("y", y.all()).run()?;
            // Without invocations outside of the domain.
            let rows = if statements.contains("vec3(") { HEIGHT - 3 } else { HEIGHT };
            let section = y.at((.., ..rows));
            let expected = section.region()?.points().map(|p| definition([p[0], p[1]]));
            assert!(section.read()?.into_iter().eq(expected), "{statements}");
        }
        Ok(())
    });
}

#[test]
fn kernels_over_several_boxes_have_the_cells_of_their_definition() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([WIDTH, HEIGHT]).ghost([2, 7]);
        let (x, y) = (world.array::<u32, 2>("x", &layout)?, world.array::<u32, 2>("y", &layout)?);
        let kernel = world.kernel(kernel("s = column(p, 5);"))?;
        x.fill_with(cell)?;
        y.fill(1)?;
        for (a, b) in zippy::zip_chunks((&x, &y))? {
            let section = a.with_ghosts();
            section.write(&section.region()?.points().map(|p| cell([p[0], p[1]])).collect::<Vec<_>>())?;
            kernel.call().read("x", a.all()).update("y", b.all()).over(b.boundary()).run()?;
            let interior = b.interior().region()?;
            let expected = |p: &zippy::extents::Index| if interior.contains(p) { 1 } else { column([p[0], p[1]], 5) };
            let points: Vec<_> = b.region().points().collect();
            assert!(b.all().read()?.into_iter().eq(points.iter().map(expected)));
        }
        Ok(())
    });
}

/// A kernel may also use the invocation numbers of a call over one box for other purposes than
/// positions.
#[test]
fn numbers_of_invocations_begin_once() {
    support::ranks(&[1, 2], |world| {
        let [x, y] = arrays(world)?;
        let kernel = world.kernel(kernel("s = x_load(p + vec2(0, 1)) + id.x + 64u * id.y;"))?;
        kernel.call().read("x", x.all()).write("y", y.all()).run()?;
        let expected = |[x, y]: [i64; 2]| cell([x, y + 1]) + (x + 64 * y) as u32;
        let points = y.all().region()?;
        assert!(y.all().read()?.into_iter().eq(points.points().map(|p| expected([p[0], p[1]]))));
        Ok(())
    });
}
