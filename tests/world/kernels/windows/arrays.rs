//! Operations on arrays larger than a binding, and `arrayLength` of bound arrays.

use zippy::{KernelSource, Layout, Result, Split, World};

use crate::support;

fn layout() -> Layout {
    Layout::new([97, 151]).split([Split::Whole, Split::Even(2)]).ghost([1, 3])
}

fn number([x, y]: [i64; 2]) -> i32 {
    ((x * 31 + y * 1009) % 2003 - 1000) as i32
}

#[test]
fn functions_fill_arrays_larger_than_a_binding() {
    support::ranks(&[1, 2], |world| {
        let array = world.array::<i32, 2>("array", &layout())?;
        array.fill(7)?;
        array.fill_with(number)?;
        let bytes = world.array::<u8, 2>("bytes", &layout())?;
        bytes.at((5..90, 3..140)).fill_with(|p| number(p) as u8)?;
        for chunk in array.chunks() {
            let points = chunk.region();
            assert!(chunk.all().read()?.into_iter().eq(points.points().map(|p| number([p[0], p[1]]))));
        }
        for chunk in bytes.chunks() {
            let is_filled = |p: &[i64; 2]| (5..90).contains(&p[0]) && (3..140).contains(&p[1]);
            let expected = chunk.region().points().map(|p| [p[0], p[1]]);
            let expected = expected.map(|p| if is_filled(&p) { number(p) as u8 } else { 0 });
            assert!(chunk.all().read()?.into_iter().eq(expected));
        }
        Ok(())
    });
}

#[test]
fn arrays_larger_than_a_binding_are_reduced() {
    support::ranks(&[1, 2], |world| {
        let array = world.array::<i32, 2>("array", &layout())?;
        array.fill_with(number)?;
        let section = array.at((1..96, 2..150));
        let cells = (2..150).flat_map(|y| (1..96).map(move |x| number([x, y])));
        assert_eq!(world.sum(&section)?, cells.clone().map(i128::from).sum::<i128>());
        assert_eq!(world.min(&section)?, cells.clone().min());
        assert_eq!(world.max(&section)?, cells.max());
        Ok(())
    });
}

/// The length does not depend on the chunk's memory, which may come from a larger dropped array.
#[test]
fn lengths_are_those_of_arrays() {
    fn length(world: &World, cells: i64) -> Result<u32> {
        let text = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = y_position(id);
    if y_inside(p) { y_store(p, arrayLength(&x)); }
}
";
        let x = world.local_array::<f32, 1>("x", &Layout::new([cells]))?;
        let y = world.local_array::<u32, 1>("y", &Layout::new([1]))?;
        world.kernel(KernelSource::text("length.wgsl", text))?.call().read("x", x.all()).write("y", y.all()).run()?;
        Ok(y.all().read()?[0])
    }
    support::ranks(&[1, 2], |world| {
        for cells in [1000, 900, 901, 1000, 63, 1] {
            assert_eq!(length(world, cells)?, cells as u32);
        }
        Ok(())
    });
}
