use std::fs;
use std::path::{Path, PathBuf};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy_native::lower::lower_with_source;

use crate::verifier::verify;

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != ".git" {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            files.push(path);
        }
    }
}

#[test]
fn standalone_shaders_lower_to_well_formed_kernels() {
    let root = std::env::var("LOWER_ROOT").unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../..").into());
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files);
    let mut lowered = 0;
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let Ok(module) = naga::front::wgsl::parse_str(&source) else { continue };
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let Ok(info) = validator.validate(&module) else { continue };
        for point in module.entry_points.iter().filter(|point| point.stage == naga::ShaderStage::Compute) {
            eprintln!("{} {}", file.display(), point.name);
            match lower_with_source(&module, &info, &point.name, &source) {
                Ok(kernel) => {
                    eprintln!("{} values {} variables", kernel.values.len(), kernel.variables.len());
                    verify(&kernel);
                    lowered += 1;
                }
                Err(error) => eprintln!("UNSUPPORTED {error}"),
            }
        }
    }
    assert!(lowered > 10, "{lowered} entry points");
}
