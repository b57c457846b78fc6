//! Ghost update that overlaps communication with computation: one step of heat diffusion on a
//! torus.

use zippy::{Layout, Split, World, include_wgsl};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let layout = Layout::new([37, 29])
            .split([Split::Even(world.size()), Split::Even(2)])
            .ghost([1, 1])
            .periodic([true, true]);
        let now = world.array::<f32, 2>("now", &layout)?;
        let next = world.array::<f32, 2>("next", &layout)?;
        now.fill_with(|[x, y]| if x == 0 && y == 28 { 1.0 } else { 0.0 })?;

        let diffuse = world.kernel(include_wgsl!("../shaders/diffuse.wgsl"))?;
        let step =
            |a, b, domain| diffuse.call().read("now", a).write("next", b).over(domain).param("rate", 0.125_f32).run();
        let halo = world.start_ghosts(&now)?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            step(a.all(), b.all(), b.interior())?;
        }
        halo.wait()?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            step(a.all(), b.all(), b.boundary())?;
        }

        // The spot in the corner has spread to its four neighbours across the periodic borders.
        for chunk in next.chunks() {
            for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                let expected = match [p[0], p[1]] {
                    [0, 28] => 0.5,
                    [36, 28] | [1, 28] | [0, 27] | [0, 0] => 0.125,
                    _ => 0.0,
                };
                assert_eq!(value, expected, "at {p:?}");
            }
        }
        world.barrier()
    })
}
