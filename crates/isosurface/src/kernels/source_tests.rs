//! Every shader of surfaces compiles in all texts that the program composes.

use std::collections::BTreeSet;

use zippy::KernelSource;
use zippy::element::{Element, ElementInfo};

use super::source::{SampleKernel, triangles_composer};

#[test]
fn all_texts_are_valid() {
    let elements: [&ElementInfo; 7] =
        [&f32::INFO, &i32::INFO, &u32::INFO, &u8::INFO, &i8::INFO, &u16::INFO, &i16::INFO];
    let kernels = [SampleKernel::Tree, SampleKernel::Inside, SampleKernel::Vertices, SampleKernel::Interior];
    let of_samples = kernels.iter().flat_map(|kernel| {
        elements.map(|element| (format!("{kernel:?} of {}", element.name), kernel.composer(element)))
    });
    let texts: Vec<_> = of_samples.chain([("triangles".to_owned(), triangles_composer())]).collect();
    zippy_testing::ranks(&[1], |world| {
        for (name, composer) in &texts {
            world.kernel(KernelSource::text(name, composer.compose()?))?;
        }
        Ok(())
    });

    let used: BTreeSet<String> = texts.iter().flat_map(|(_, composer)| composer.files()).collect();
    let all = zippy_testing::shaders::files(env!("CARGO_MANIFEST_DIR")).into_keys();
    let left: Vec<_> = all.filter(|file| !used.contains(&format!("crates/isosurface/shaders/{file}"))).collect();
    assert!(left.is_empty(), "no text contains {left:?}");
}
