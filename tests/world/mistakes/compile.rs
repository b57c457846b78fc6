//! Mistakes that do not compile: the compiler explains the mistake and its correction in terms of
//! the library.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use crate::support::launcher;

/// Functions with one mistake each, and texts that the compiler must print.
const MISTAKES: &[(&str, &[&str])] = &[
    (
        "fn a_global_section_in_a_kernel(kernel: &Kernel, a: &GlobalArray<f32, 2>) {
            let _ = kernel.call().read(\"a\", a.at(..)).run();
        }",
        &[
            "a kernel cannot be called with `GlobalSection<f32, 2>`",
            "kernels read local chunks: pass `chunk` of `zippy::zip_chunks((&a, &b))?` or of `array.chunks()`",
        ],
    ),
    (
        "fn a_global_array_in_a_kernel(kernel: &Kernel, a: &GlobalArray<f32, 2>) {
            let _ = kernel.call().write(\"a\", a).run();
        }",
        &["a kernel cannot be called with `&GlobalArray<f32, 2>`"],
    ),
    (
        "fn a_domain_of_global_cells(kernel: &Kernel, a: &GlobalArray<f32, 2>) {
            let _ = kernel.call().over(a.at(..)).run();
        }",
        &["a kernel cannot run over `GlobalSection<f32, 2>`"],
    ),
    (
        "fn a_domain_of_one_number(kernel: &Kernel) { let _ = kernel.call().over(7_u32).run(); }",
        &["a kernel cannot run over `u32`", "extents (`[n, m]`) or `Domain::counted(..)`"],
    ),
    (
        "fn cells_of_bool(world: &World) { let _ = world.array::<bool, 2>(\"a\", &Layout::new([3, 3])); }",
        &["cells of arrays cannot be `bool`", "cells are f32, f64, f16, u8 to u64", "a `bool` is a u8 or u32 here"],
    ),
    (
        "fn cells_of_usize(world: &World) { let _ = world.local_array::<usize, 1>(\"a\", &Layout::new([3])); }",
        &["cells of arrays cannot be `usize`", "a `usize` a u32 or u64"],
    ),
    (
        "fn an_array_by_value(world: &World, a: GlobalArray<f32, 2>) { let _ = world.sum(a); }",
        &["`GlobalArray<f32, 2>` is not a section of an array", "pass `&array` for all its cells"],
    ),
    (
        "fn a_number_to_copy(world: &World, a: &GlobalArray<f32, 2>) { let _ = world.copy(1.0_f32, a); }",
        &["`f32` is not a section of an array"],
    ),
    (
        "fn a_local_section_to_composite(world: &World, a: &GlobalArray<f32, 1>, b: &LocalArray<f32, 1>) {
            let _ = world.composite(b.at(..), a, Operator::Add);
        }",
        &["`LocalSection<f32, 1>` is not a section of a global array"],
    ),
    (
        "fn a_global_section_to_fetch_into(world: &World, a: &GlobalArray<f32, 1>) { let _ = world.get_into(a, a); }",
        &["`&GlobalArray<f32, 1>` is not a section of this rank"],
    ),
    (
        "fn a_number_to_accumulate(world: &World, a: &GlobalArray<f32, 1>) {
            let _ = world.accumulate(1.0_f32, a, Operator::Add);
        }",
        &["`f32` cannot be put", "pass host values as a slice (`&[1.0]`, `&values`)"],
    ),
    (
        "fn local_cells_to_sort(world: &World, a: &LocalArray<f32, 1>) { let _ = world.vectors().sort(a); }",
        &["`&LocalArray<f32, 1>` is not a vector", "there is `world.on_rank()`"],
    ),
    (
        "fn global_cells_to_sort_on_a_rank(world: &World, a: &GlobalArray<f32, 1>) { let _ = world.on_rank().sort(a); }",
        &[
            "`&GlobalArray<f32, 1>` is not a sequence of cells of this rank",
            "there is `world.vectors()` of `zippy_primitives`",
        ],
    ),
    (
        "fn a_section_zipped(a: &GlobalArray<f32, 2>) { let _ = zippy::zip_chunks((&a.at(..), a)); }",
        &["`zip_chunks` cannot iterate over", "not references to 2 to 6 global arrays"],
    ),
    (
        "fn a_flag_for_a_parameter(kernel: &Kernel) { let _ = kernel.call().param(\"on\", true).run(); }",
        &["a parameter cannot be `bool`", "a `bool` is a u32 in WGSL's uniform variables"],
    ),
];

/// Finds the library file of a crate that this test is linked with: the latest file that is not
/// newer than the test.
///
/// `None` if this is not a test program of Cargo, for example in a bundle.
fn find_library_file(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let directory = program.parent().filter(|directory| directory.ends_with("deps"))?;
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let time = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    let linked_at = time(&program);
    let is_library = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib") && time(path) <= linked_at
    };
    let latest = entries.filter(is_library).max_by_key(time);
    Some(latest.expect("the library that this test is linked with"))
}

/// Compiles a text with some crates, given by name and library file. Returns the output of the
/// compiler; `None` if there is no compiler.
fn compile(libraries: &[(&str, PathBuf)], text: &str) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mistakes.rs");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"]).arg(directory.path());
    for (name, library) in libraries {
        command.arg("-L").arg(format!("dependency={}", library.parent().unwrap().display()));
        command.arg("--extern").arg(format!("{name}={}", library.display()));
    }
    command.arg(&file);
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("nothing is compiled: there is no {}", command.get_program().display());
            return None;
        }
        output => output.unwrap(),
    };
    let compiler_output = String::from_utf8_lossy(&output.stderr).into_owned();
    let has_other_version = compiler_output.contains("E0514");
    assert!(!has_other_version, "another compiler has compiled the library:\n{compiler_output}");
    Some(compiler_output)
}

const HEAD: &str =
    "use zippy::{GlobalArray, Kernel, Layout, LocalArray, Operator, World};\nuse zippy_primitives::Primitives;\n";

#[test]
fn compile_errors_are_explained_in_terms_of_library() {
    if launcher::size().is_some() {
        return;
    }
    let crates = ["zippy", "zippy_primitives"].map(|name| Some((name, find_library_file(name)?)));
    let [Some(zippy), Some(primitives)] = crates else { return };
    let functions: Vec<&str> = MISTAKES.iter().map(|(function, _)| *function).collect();
    let Some(compiler_output) = compile(&[zippy, primitives], &(HEAD.to_owned() + &functions.join("\n"))) else {
        return;
    };
    for (function, expected) in MISTAKES {
        for expected in *expected {
            assert!(compiler_output.contains(expected), "{function}: {expected}\nis not in\n{compiler_output}");
        }
    }
    assert!(!compiler_output.contains("From<") && !compiler_output.contains("Into<"), "{compiler_output}");
    // One error for each mistake; `zip_chunks` is refused at its argument and at its result.
    let errors: BTreeSet<&str> = compiler_output.lines().filter(|line| line.starts_with("error[")).collect();
    assert_eq!(errors.len(), MISTAKES.len(), "{compiler_output}");
}
