//! Reloading: a kernel runs the new text after a change of its file; after an invalid edit it keeps
//! its text and logs the error.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use zippy::{KernelSource, Layout, LocalArray, Result, World};
use zippy_device::device::InjectedFailure;

use crate::support;
use zippy_testing::log::Log;

/// WGSL file of this rank. Every edit increases its modification time, even if edits are fast.
struct WgslFile {
    path: PathBuf,
    edits: u64,
}

impl WgslFile {
    fn new(world: &World, test: &str) -> Self {
        let (rank, ranks) = (world.rank(), world.size());
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}-{ranks}-{rank}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        Self { path: folder.join("kernel.wgsl"), edits: 0 }
    }

    fn edit(&mut self, text: &str) {
        self.edits += 1;
        std::fs::write(&self.path, text).expect("written");
        let file = std::fs::File::options().write(true).open(&self.path).expect("there");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + self.edits)).expect("set");
    }
}

impl Drop for WgslFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path.parent().expect("its folder"));
    }
}

/// WGSL text of a kernel that stores a value in all cells.
fn kernel_text(value: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    x_store(x_position(id), {value});
}}
"
    )
}

#[test]
fn edited_kernel_is_reloaded_and_invalid_edit_is_logged() {
    support::ranks(&[1, 2], |world| {
        let mut file = WgslFile::new(world, "edits");
        let name = file.path.display().to_string();
        file.edit(&kernel_text("1u"));
        let kernel = world.kernel(KernelSource::file(&file.path)?)?;
        let clone = kernel.clone();
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([100]))?;
        let runs = |expected: u32| -> Result<()> {
            for kernel in [&kernel, &clone] {
                x.all().write(&[0; 100])?;
                kernel.call().write("x", x.all()).run()?;
                assert_eq!(x.all().read()?, [expected; 100]);
            }
            Ok(())
        };
        let log = Log::listen();
        runs(1)?;
        assert_eq!(log.take(), "");
        file.edit(&kernel_text("2u"));
        runs(2)?;
        assert!(log.take().contains(&format!("kernel {name} was changed and is compiled again")));

        let mut mistake = |label: &str, text: String, expected: &str| {
            file.edit(&text);
            runs(2)?;
            let logged = log.take();
            assert!(logged.contains(&format!("kernel {name} was changed, but stays as it was: ")), "{label}: {logged}");
            assert!(logged.contains(expected), "{label}: {logged}");
            assert_eq!(logged.matches("stays as it was").count(), 1, "{label}: {logged}");
            runs(2)?;
            assert_eq!(log.take(), "", "{label} is told once");
            Ok::<_, zippy::Error>(())
        };
        mistake("wrong syntax", kernel_text("3u").replace("3u)", "3u"), &format!("{name}:4:31: "))?;
        mistake("an unknown name", kernel_text("three"), &format!("{name}:4:29: no definition in scope"))?;
        mistake("a variable renamed", kernel_text("3u").replace("x", "y"), "there is no storage variable `x`")?;
        mistake("another type", kernel_text("3.0").replace("<u32>;", "<f32>;"), "cells are u32, not f32")?;
        let more = kernel_text("3u + more") + "@group(1) @binding(0) var<uniform> more: u32;\n";
        mistake("a parameter more", more, "parameter `more` was not given")?;
        mistake(
            "what no device runs",
            kernel_text("3u").replace("(64)", "(16384)"),
            "@workgroup_size(16384, 1, 1) is too large",
        )?;
        mistake("an empty file", String::new(), "there is no storage variable `x`")?;

        file.edit(&kernel_text("4u"));
        runs(4)?;
        assert!(log.take().contains("is compiled again"));
        std::fs::remove_file(&file.path).expect("there");
        runs(4)?;
        // Two edits between runs, the first of them invalid: only the second one matters.
        file.edit(&kernel_text("5u, 5u"));
        file.edit(&kernel_text("6u"));
        runs(6)
    });
}

/// Errors of the call, and earlier errors of the device, are not attributed to the edit.
#[test]
fn other_error_after_edit_is_not_attributed_to_edit() {
    support::ranks(&[1], |world| {
        let mut file = WgslFile::new(world, "calls");
        file.edit(&kernel_text("1u"));
        let kernel = world.kernel(KernelSource::file(&file.path)?)?;
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([10]))?;
        kernel.call().write("x", x.all()).run()?;
        file.edit(&kernel_text("2u"));
        let log = Log::listen();
        let error = kernel.call().write("z", x.all()).run().expect_err("no such name").to_string();
        assert!(error.contains("there is no storage variable `z`"), "{error}");
        assert!(!log.take().contains("stays as it was"));
        kernel.call().write("x", x.all()).run()?;
        assert_eq!(x.all().read()?, [2; 10], "the edit was not given up for it");

        file.edit(&kernel_text("3u"));
        log.take();
        world.gpu().inject_failure(InjectedFailure::OutOfMemory);
        let error = kernel.call().write("x", x.all()).run().expect_err("the failure").to_string();
        assert!(error.contains("out of memory"), "{error}");
        assert_eq!(log.take(), "");
        kernel.call().write("x", x.all()).run()?;
        assert_eq!(x.all().read()?, [3; 10], "nor for this");
        assert!(log.take().contains("was changed and is compiled again"));
        Ok(())
    });
}

/// `include_wgsl!` finds its file by the directory of the workspace and the path of the source
/// file.
#[test]
fn included_file_is_reloaded() {
    support::ranks(&[1, 2], |world| {
        let mut file = WgslFile::new(world, "included");
        file.edit(&kernel_text("7u"));
        let folder = file.path.parent().expect("its folder").display().to_string();
        let source = KernelSource::included(&folder, "src/main.rs", "../kernel.wgsl", &kernel_text("7u"));
        let kernel = world.kernel(&source)?;
        assert_eq!(kernel.name(), "kernel.wgsl");
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([10]))?;
        kernel.call().write("x", x.all()).run()?;
        assert_eq!(x.all().read()?, [7; 10]);
        file.edit(&kernel_text("8u"));
        kernel.call().write("x", x.all()).run()?;
        assert_eq!(x.all().read()?, [8; 10]);
        Ok(())
    });
}
