//! Findings of checked runs: writers of cells, stale ghost cells, and accesses outside of chunks.

use zippy::history::{Finding, GhostState, Problem};
use zippy::transport::{Payload, copied};
use zippy::{Config, Exchange, GlobalArray, KernelSource, Layout, Operator, Result, Split, World, run_with};

use crate::support::launcher;

/// Runs a program in checked runs. Returns the findings by number of ranks and rank.
pub(crate) fn checked(counts: &[usize], program: impl Fn(&World) -> Result<()> + Send + Sync) -> Vec<Vec<String>> {
    let run = |ranks: usize| {
        let found = run_with(Config::threads(ranks).check(true), |world| {
            program(world)?;
            // The next synchronization checks the last reads.
            world.barrier()?;
            // Under a launcher each process has one rank.
            let own: Vec<String> = world.debug().findings().iter().map(finding_text).collect();
            let all = world.group().all_gather_v(copied(own.join("\n").as_bytes()))?;
            let text = |one: &Payload| String::from_utf8_lossy((**one).as_ref()).lines().map(String::from).collect();
            Ok(all.iter().map(text).collect::<Vec<Vec<String>>>().concat())
        });
        let mut all: Vec<String> = found.unwrap_or_else(|error| panic!("on {ranks} ranks: {error}")).concat();
        all.sort();
        all.dedup();
        all
    };
    launcher::counts(counts).into_iter().map(run).collect()
}

/// Text of a finding without the parts that depend on the order of chunks.
fn finding_text(finding: &Finding) -> String {
    let Finding { array, site, problem, .. } = finding;
    let site = format!("{}:{}", site.operation(), site.call_site().line());
    match problem {
        Problem::StaleGhosts { side, filled, writer, .. } => {
            format!(
                "{array} {side:?} {} by {site}, after {}",
                if *filled { "stale" } else { "never" },
                writer_text(writer)
            )
        }
        Problem::LoadOutside(stray) => format!("{array} load outside at {:?} by {site}", &stray.position[..]),
        Problem::StoreOutside(stray) => format!("{array} store outside at {:?} by {site}", &stray.position[..]),
        Problem::LoopStopped { line, .. } => format!("{array} loop in line {line} stopped by {site}"),
    }
}

/// Text of a writer without file and column.
fn writer_text(writer: &str) -> String {
    let (label, at) = writer.split_once(" at ").unwrap_or((writer, ""));
    let line = at.split(':').nth(1).unwrap_or("?");
    format!("{}:{line}", label.split('(').next().unwrap_or(label))
}

const STENCIL: &str = "
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    out_store(p, u_load(p - vec2(REACH, 0)) + u_load(p + vec2(REACH, 0)) + u_load(p));
}";

fn fields(world: &World) -> Result<[GlobalArray<f32, 2>; 2]> {
    let layout = Layout::new([12, 10])
        .split([Split::Sizes(vec![3, 5, 4]), Split::Even(2)])
        .ghost([1, 1])
        .periodic([true, false]);
    Ok([world.array("one", &layout)?, world.array("two", &layout)?])
}

/// Steps of a stencil. With `forgets`, the ghost update after the second step is missing.
pub(crate) fn steps(world: &World, reach: i64, forgets: bool) -> Result<[u32; 2]> {
    let [one, two] = fields(world)?;
    let kernel = world.kernel(KernelSource::text("stencil", STENCIL.replace("REACH", &reach.to_string())))?;
    one.fill_with(|[x, y]| (x + 100 * y) as f32)?;
    let (mut from, mut to, mut at) = (&one, &two, [0; 2]);
    for step in 0..4 {
        if step < 2 || !forgets {
            world.exchange(Exchange::new().ghosts(from).faces_only())?;
        }
        for (from, to) in zippy::zip_chunks((from, to))? {
            at = [line!(), line!() + 1];
            kernel.call().read("u", from.all()).write("out", to.all()).run()?;
        }
        (from, to) = (to, from);
    }
    Ok(at)
}

#[test]
fn correct_program_has_no_findings() {
    for found in checked(&[1, 2, 3], |world| steps(world, 1, false).map(drop)) {
        assert_eq!(found, [""; 0], "nothing is wrong");
    }
}

#[test]
fn missing_ghost_update_is_found() {
    let all = checked(&[1, 2, 3, 5], |world| steps(world, 1, true).map(drop));
    for found in &all {
        assert_eq!(found, &all[0], "the same for any number of ranks");
        assert_eq!(found.len(), 4, "both arrays on both sides: {found:?}");
        assert!(found.iter().all(|one| one.contains("stale by kernel") && one.contains("after kernel")), "{found:?}");
        for part in ["one [-1, 0]", "one [1, 0]", "two [-1, 0]", "two [1, 0]"] {
            assert!(found.iter().any(|one| one.starts_with(part)), "{part}: {found:?}");
        }
    }
}

#[test]
fn finding_names_call() {
    run_with(Config::apart(2).check(true), |world| {
        let [_, run] = steps(world, 1, true)?;
        world.debug_point("done")?;
        let findings = world.debug().findings();
        assert!(!findings.is_empty());
        for finding in findings {
            let at = finding.site.call_site();
            assert_eq!((at.line(), at.file().ends_with("history.rs")), (run, true), "{finding}");
            assert!(finding.to_string().contains("update the ghost cells in between"), "{finding}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn missing_component_is_found() {
    let text = "
@group(0) @binding(0) var<storage, read> f: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    // Component 1 is read from the cell below, 3 from the cell above, 0 and 2 from this cell.
    let origin = array<i32, 4>(0, 1, 0, -1);
    out_store(p, f_load(vec2(p.x - origin[p.y], p.y)));
}";
    let stream = |world: &World, above: usize| -> Result<()> {
        let layout = Layout::new([9, 4]).split([Split::Even(3), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let (f, out) = (world.array::<u32, 2>("f", &layout)?, world.array::<u32, 2>("out", &layout)?);
        let kernel = world.kernel(KernelSource::text("kernel", text))?;
        f.fill_with(|[x, c]| (4 * x + c) as u32)?;
        world.exchange(Exchange::new().ghosts(&f).components(1, |side| vec![if side[0] < 0 { 1 } else { above }]))?;
        for (f, out) in zippy::zip_chunks((&f, &out))? {
            kernel.call().read("f", f.all()).write("out", out.all()).run()?;
        }
        Ok(())
    };
    for found in checked(&[1, 2, 3], |world| stream(world, 3)) {
        assert_eq!(found, [""; 0]);
    }
    for found in checked(&[1, 2, 3], |world| stream(world, 2)) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("f [1, 0] never by kernel") && found[0].contains("after fill_with:"), "{found:?}");
    }
}

/// The other ranks learn of a local write at the next synchronization.
#[test]
fn local_writes_of_one_rank_are_reported() {
    let program = |world: &World| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]);
        let line = world.array::<f32, 1>("line", &layout)?;
        line.fill(1.0)?;
        world.ghosts(&line)?;
        for chunk in line.chunks().filter(|chunk| chunk.id() == 2) {
            chunk.at(0..1).fill(2.0)?;
        }
        world.barrier()?;
        let sides = world.debug().ghost_states(&line)?;
        for side in sides {
            // The first cell of the chunk is a ghost cell of the previous chunk only.
            let stale = (side.chunk, side.side[0]) == (1, 1);
            assert_eq!(side.state, if stale { GhostState::Stale } else { GhostState::Fresh }, "{side:?}");
        }
        for chunk in line.chunks() {
            chunk.with_ghosts().read()?;
        }
        world.barrier()?;
        let differ = world.debug().compare_ghosts(&line)?;
        let here = line.chunks().any(|chunk| chunk.id() == 1);
        assert_eq!(
            differ.iter().map(|one| (one.chunk, one.side[0], one.cells)).collect::<Vec<_>>(),
            [(1, 1, 1)][..usize::from(here)]
        );
        world.ghosts(&line)?;
        assert!(world.debug().ghost_states(&line)?.iter().all(|side| side.state == GhostState::Fresh));
        assert_eq!(world.debug().compare_ghosts(&line)?, []);
        Ok(())
    };
    for found in checked(&[1, 2, 3, 4], program) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("line [1] stale by read:") && found[0].contains("after fill:"), "{found:?}");
    }
}

/// Covers overlap of the interior with the ghost update, and in-place steps with component lists in
/// both directions, as in a flow solver.
#[test]
fn overlapped_and_bidirectional_updates_have_no_findings() {
    let program = |world: &World| {
        let layout = Layout::new([16, 4]).split([Split::Even(4), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let f = world.array::<f32, 2>("f", &layout)?;
        f.fill(1.0)?;
        for _ in 0..3 {
            let update = world.start_ghosts(&f)?;
            for chunk in f.chunks() {
                chunk.interior().fill(2.0)?;
            }
            update.wait()?;
            for chunk in f.chunks() {
                chunk.with_ghosts().read()?;
            }
            for chunk in f.chunks() {
                chunk.all().fill(3.0)?;
            }
            let both = Exchange::new().ghosts(&f).components(1, |_| vec![0]);
            world.exchange(both.ghosts(&f).reverse_with(Operator::Max).components(1, |_| vec![1]))?;
            for chunk in f.chunks() {
                let ghosts = chunk.region().start[0] - 1;
                chunk.at_global([ghosts..ghosts + 1, 0..1]).read()?;
            }
        }
        Ok(())
    };
    for found in checked(&[1, 2, 3], program) {
        assert_eq!(found, [""; 0]);
    }
}

#[test]
fn checked_runs_return_ghost_states() {
    run_with(Config::apart(2).check(false), |world| {
        let [one, two] = fields(world)?;
        let error = world.debug().ghost_states(&one).unwrap_err().to_string();
        assert!(error.contains("set ZIPPY_CHECK=1"), "{error}");
        two.fill_with(|[x, _]| x as f32)?;
        let differ = world.debug().compare_ghosts(&two)?;
        let low = differ.iter().find(|one| one.side == [-1, 0] && one.chunk == 1);
        // All five ghost cells on that side have a value other than 0 and differ.
        let here = two.chunks().any(|chunk| chunk.id() == 1);
        assert_eq!(low.map(|one| (one.cells, one.first[0])), here.then_some((5, 2)), "{differ:?}");
        Ok(())
    })
    .unwrap();
    run_with(Config::apart(2).check(true), |world| {
        let [one, _] = fields(world)?;
        assert!(world.debug().ghost_states(&one)?.iter().all(|side| side.state == GhostState::NeverFilled));
        world.ghosts(&one)?;
        assert!(world.debug().ghost_states(&one)?.iter().all(|side| side.state == GhostState::Fresh));
        let ranks = one.core().chunks().count();
        let _reversed = one.reassigned(&(0..ranks).collect::<Vec<_>>())?;
        assert!(world.debug().ghost_states(&one).unwrap_err().to_string().contains("another handle"));
        Ok(())
    })
    .unwrap();
}

/// Sources, walls and probes exist in some chunks only, so that chunks have different numbers of
/// operations.
#[test]
fn chunks_with_different_operations_have_no_findings() {
    let program = |world: &World| {
        let layout = Layout::new([12]).split([Split::Even(4)]).ghost([1]).periodic([true]);
        let (u, v) = (world.array::<f32, 1>("u", &layout)?, world.array::<f32, 1>("v", &layout)?);
        for _ in 0..3 {
            for chunk in u.chunks().filter(|chunk| chunk.id() % 2 == 0) {
                chunk.at(1..2).fill(5.0)?;
                chunk.at(1..2).read()?;
            }
            world.ghosts(&u)?;
            for chunk in u.chunks().filter(|chunk| chunk.id() == 1) {
                chunk.at(1..2).fill(6.0)?;
                chunk.at(1..2).fill(7.0)?;
                chunk.all().read()?;
            }
            for chunk in u.chunks() {
                chunk.with_ghosts().read()?;
            }
            for chunk in u.chunks() {
                chunk.all().fill(1.0)?;
            }
            world.ghosts(&v)?;
        }
        Ok(())
    };
    for found in checked(&[1, 2, 3, 4], program) {
        assert_eq!(found, [""; 0]);
    }
}

/// A read of ghost cells during an update, and a read before a later overwrite, return the previous
/// values.
#[test]
fn early_read_of_ghost_cells_is_found() {
    let program = |world: &World| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]).periodic([true]);
        let u = world.array::<f32, 1>("u", &layout)?;
        world.ghosts(&u)?;
        for chunk in u.chunks() {
            chunk.all().fill(2.0)?;
        }
        let update = world.start_ghosts(&u)?;
        for chunk in u.chunks() {
            chunk.with_ghosts().read()?;
        }
        update.wait()?;
        for chunk in u.chunks() {
            chunk.with_ghosts().read()?;
        }
        Ok(())
    };
    for found in checked(&[1, 2, 4], program) {
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|one| one.contains("stale by read:")), "{found:?}");
        assert_eq!(found[0].split(':').nth(1), found[1].split(':').nth(1), "the first read: {found:?}");
    }
}

/// A chunk is written twice at one call site, before and after another chunk has written its own
/// ghost cells.
///
/// Every write counts, not only the first one, whether the ghost cells are read before or after the
/// next synchronization.
#[test]
fn write_repeated_at_its_call_site_after_ghost_cells_were_written_is_found() {
    let program = |world: &World, (is_last, meets): (bool, bool)| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]).periodic([true]);
        let u = world.array::<f32, 1>("u", &layout)?;
        let chunk = |id: usize| u.chunks().filter(move |chunk| chunk.id() == id);
        let set = || chunk(1).try_for_each(|chunk| chunk.all().fill(2.0));
        let write_ghosts = || chunk(0).try_for_each(|chunk| chunk.with_ghosts().fill(3.0));
        world.ghosts(&u)?;
        set()?;
        write_ghosts()?;
        set()?;
        set()?;
        if !is_last {
            write_ghosts()?;
        }
        if meets {
            world.barrier()?;
        }
        chunk(0).try_for_each(|chunk| chunk.with_ghosts().read().map(drop))
    };
    for is_last in [true, false] {
        for meets in [true, false] {
            // With more ranks, no rank has both chunks.
            for found in checked(&[1, 2], |world| program(world, (is_last, meets))) {
                let stale = found.iter().filter(|one| one.starts_with("u [1] stale by read:")).count();
                assert_eq!((stale, found.len()), (usize::from(is_last), usize::from(is_last)), "{meets}: {found:?}");
            }
        }
    }
}

/// The last of several writes at one call site follows the ghost update or overlaps it.
#[test]
fn write_repeated_at_its_call_site_after_an_update_is_found() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Last {
        Write,
        Update,
        WriteWhileUpdating,
    }
    let program = |world: &World, last: Last| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]).periodic([true]);
        let u = world.array::<f32, 1>("u", &layout)?;
        let set = || u.chunks().filter(|chunk| chunk.id() == 1).try_for_each(|chunk| chunk.all().fill(2.0));
        let read =
            || u.chunks().filter(|chunk| chunk.id() != 1).try_for_each(|chunk| chunk.with_ghosts().read().map(drop));
        set()?;
        world.ghosts(&u)?;
        read()?;
        set()?;
        set()?;
        match last {
            Last::Write => {}
            Last::Update => world.ghosts(&u).map(drop)?,
            Last::WriteWhileUpdating => {
                let update = world.start_ghosts(&u)?;
                set()?;
                update.wait()?;
            }
        }
        read()
    };
    for last in [Last::Write, Last::Update, Last::WriteWhileUpdating] {
        // With more ranks, synchronization orders writes and updates.
        for found in checked(&[1, 2], |world| program(world, last)) {
            let is_stale = found.iter().any(|one| one.starts_with("u [1] stale by read:"));
            assert_eq!(is_stale, last != Last::Update, "{last:?}: {found:?}");
            assert!(is_stale || found.is_empty(), "{last:?}: {found:?}");
        }
    }
}
