//! Elementwise operations: sections as functions of other sections and of the global position, on
//! the GPU and without a kernel file.

use zippy::{Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let layout = Layout::new([24, 16]).split([Split::Even(2), Split::Even(world.size())]).ghost([1, 1]);
        let x = world.array::<f32, 2>("x", &layout)?;
        let y = world.array::<f32, 2>("y", &layout)?;

        // Fill with one value, or with a function of the global position p, in WGSL or in Rust.
        y.fill(1.0)?;
        world.elementwise("f32(p.x) + 100.0 * f32(p.y)").call().write("x", x.at(..))?;
        y.at((0, ..)).fill_with(|[_, row]| -(row as f32))?;

        // y = a x + y over a part of both arrays, with a name for each section and parameter. The
        // second call reuses the compiled kernel.
        let axpy = world.elementwise("a * x + y");
        for a in [0.5_f32, 1.5] {
            let call = axpy.call().read("x", x.at((4..20, ..))).param("a", a);
            call.write("y", y.at((4..20, ..)))?;
        }

        for chunk in y.chunks() {
            for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                let (column, row) = (p[0], p[1] as f32);
                let expected = match column {
                    0 => -row,
                    4..20 => 1.0 + 2.0 * (column as f32 + 100.0 * row),
                    _ => 1.0,
                };
                assert_eq!(value, expected, "at {p:?}");
            }
        }

        // Error messages refer to the expression.
        let wrong = world.elementwise("a * x + z");
        let message =
            wrong.call().read("x", x.at(..)).param("a", 2.0_f32).write("y", y.at(..)).unwrap_err().to_string();
        assert!(message.starts_with("elementwise \"a * x + z\":1:9: "), "{message}");
        if world.rank() == 0 {
            println!("{message}");
        }
        Ok(())
    })
}
