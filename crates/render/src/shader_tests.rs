//! Every shader of the renderer compiles in all texts that the program composes.

use std::collections::BTreeSet;

use zippy::KernelSource;
use zippy::kernel::check_text;

use crate::{compositing, volume};

#[test]
fn all_texts_are_valid() {
    let kernels = [volume::texts::kernel_texts(), compositing::kernel_texts()].concat();
    zippy_testing::ranks(&[1], |world| {
        for (name, composer) in &kernels {
            world.kernel(KernelSource::text(name, composer.compose()?))?;
        }
        Ok(())
    });
    let drawing = [0, 6].map(volume::texts::drawing_shader);
    drawing.iter().for_each(|composer| check_text(&composer.compose().unwrap()).unwrap());

    let composers = kernels.iter().map(|(_, composer)| composer).chain(&drawing);
    let used: BTreeSet<String> = composers.flat_map(|composer| composer.files()).collect();
    let all = zippy_testing::shaders::files(env!("CARGO_MANIFEST_DIR")).into_keys();
    let left: Vec<_> = all.filter(|file| !used.contains(&format!("crates/render/shaders/{file}"))).collect();
    assert!(left.is_empty(), "no text contains {left:?}");
}
