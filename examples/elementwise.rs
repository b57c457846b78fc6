//! Sections as functions of others, cell by cell, and of the global position; on the GPU, without a kernel's ceremony.

#[path = "support/say.rs"]
mod say;

use zippy::{Layout, Split, World};

use say::say;

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let layout = Layout::new([24, 16]).split([Split::Even(2), Split::Even(world.size())]).ghost([1, 1]);
        let x = world.array::<f32, 2>("x", &layout)?;
        let y = world.array::<f32, 2>("y", &layout)?;

        // Every cell: one value. A section: a function of the global position, p, in WGSL or in Rust.
        y.fill(1.0)?;
        world.elementwise("f32(p.x) + 100.0 * f32(p.y)").call().write("x", x.at(..))?;
        y.at((0, ..)).fill_with(|[_, row]| -(row as f32))?;

        // y = a x + y over part of both, with a name for every section and parameter. What is compiled is used again.
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

        // A mistake is told in the expression's own words.
        let wrong = world.elementwise("a * x + z");
        let told = wrong.call().read("x", x.at(..)).param("a", 2.0_f32).write("y", y.at(..)).unwrap_err().to_string();
        assert!(told.starts_with("elementwise \"a * x + z\":1:9: "), "{told}");
        if world.rank() == 0 {
            say(told)?;
        }
        Ok(())
    })
}
