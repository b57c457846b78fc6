//! Tests of the guides: each program runs on 1 and 3 ranks with the same result, and pages show the
//! text of programs.

use std::path::Path;

use zippy::{Config, World};

use crate::{checked, first_program, flow, isosurfaces, mpi, particles, reductions, rendering, restart, stencils};

/// Results of a program on 1 rank and on 3 ranks as threads, each of rank 0.
fn on_1_and_3<R: Send>(program: impl Fn(&World) -> zippy::Result<R> + Send + Sync) -> [R; 2] {
    [1, 3].map(|ranks| {
        let results = zippy::run_with(Config::threads(ranks), &program);
        results.unwrap_or_else(|error| panic!("{ranks} ranks: {error}")).swap_remove(0)
    })
}

/// The same for programs that write files: each run has a directory of its own.
fn in_directories<R: Send>(program: impl Fn(&World, &Path) -> zippy::Result<R> + Send + Sync) -> [R; 2] {
    let directory = tempfile::tempdir().unwrap();
    on_1_and_3(|world| {
        let path = directory.path().join(world.size().to_string());
        std::fs::create_dir_all(&path).unwrap();
        program(world, &path)
    })
}

#[test]
fn first_program_keeps_its_glider() {
    assert_eq!(on_1_and_3(first_program::program), [5, 5]);
}

#[test]
fn smoke_has_the_same_bits_on_any_ranks() {
    let [one, three] = on_1_and_3(|world| {
        let smoke = stencils::program(world)?;
        Ok((world.sum(&smoke)?.to_bits(), world.dot(&smoke, &smoke)?.to_bits(), world.max(&smoke)?))
    });
    assert_eq!(one, three);
}

#[test]
fn particles_are_counted_equally_on_any_ranks() {
    let [one, three] = on_1_and_3(|world| {
        let counts = particles::program(world)?;
        Ok((world.dot(&counts, &counts)?, world.argmax(&counts)?))
    });
    assert_eq!(one, three);
}

#[test]
fn statistics_have_the_same_bits_on_any_ranks() {
    let [one, three] = on_1_and_3(reductions::program);
    assert_eq!(one, three);
    assert_eq!(one.station_sums.len(), 8);
}

#[test]
fn restarted_run_has_the_bits_of_one_that_never_stopped() {
    let run = |folder: &Path, ranks: usize, last: u64| {
        std::fs::create_dir_all(folder).unwrap();
        let results = zippy::run_with(Config::threads(ranks), |world| restart::program(world, folder, last));
        results.unwrap()[0].to_bits()
    };
    let directory = tempfile::tempdir().unwrap();
    let [once, stopped] = ["once", "stopped"].map(|name| directory.path().join(name));
    let heat = run(&once, 1, 100);
    run(&stopped, 3, 50);
    assert_eq!(run(&stopped, 2, 100), heat);
    let files = [&once, &stopped].map(|folder| std::fs::read(folder.join("heat_100.vti")).unwrap());
    assert_eq!(files[0], files[1]);
    assert_eq!(zippy_io::array::time_steps(stopped.join("heat.pvd")).unwrap().len(), 10);
}

#[test]
fn volume_has_the_same_picture_on_any_ranks() {
    let [one, three] = in_directories(|world, folder| rendering::program(world, folder, 64));
    assert!(one.is_some());
    assert_eq!(one, three);
}

#[test]
fn torus_has_the_same_surface_on_any_ranks() {
    let [one, three] = in_directories(|world, folder| isosurfaces::program(world, &folder.join("torus.ply")));
    assert_eq!(one, three);
}

#[test]
fn flow_has_the_same_bits_on_any_ranks() {
    let [one, three] = on_1_and_3(|world| {
        let velocity = flow::program(world, 400)?;
        Ok((world.sum(&velocity)?.to_bits(), world.argmax(&velocity)?))
    });
    assert_eq!(one, three);
}

#[test]
fn messages_reach_all_ranks() {
    assert_eq!(on_1_and_3(mpi::program), [0, 1 + 4]);
}

#[test]
fn checked_run_finds_the_forgotten_ghost_update() {
    let config = Config::threads(3).check(true);
    let found = zippy::run_with(config, checked::program).unwrap().concat();
    assert!(!found.is_empty());
    assert!(found.iter().all(|finding| finding.contains("\"next\"")), "{found:?}");
}

/// Lines without the margin that they share.
fn extract<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let margin = |line: &&&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.is_empty()).map(|line| margin(&line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(least..).unwrap_or_default()).collect()
}

/// A comment before a code block names the file that the block is a part of.
const MARK: &str = "<!-- part of ";

/// Differences between the marked code blocks of a page and the files that they are from.
fn differences(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let file = page.with_file_name(name);
        let program = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(lines.next().is_some_and(|fence| fence.starts_with("```")), "{name} in {}", page.display());
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let program: Vec<&str> = program.lines().collect();
        if block.is_empty() || !program.windows(block.len()).any(|window| extract(window) == extract(&block)) {
            found.push(format!("{}: not in {name}:\n{}", page.display(), block.join("\n")));
        }
    }
    found
}

#[test]
fn pages_show_the_text_of_programs() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = |directory: &Path| {
        let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect::<Vec<_>>()
    };
    let docs = guides.parent().unwrap();
    let pages = [pages(guides), pages(docs), vec![docs.with_file_name("README.md")]].concat();
    let marks = |page: &std::path::PathBuf| std::fs::read_to_string(page).unwrap().matches(MARK).count();
    assert!(pages.iter().map(marks).sum::<usize>() > 20, "marked blocks of {pages:?}");
    let found: Vec<String> = pages.iter().flat_map(|page| differences(page)).collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
