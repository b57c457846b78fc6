//! Who wrote what, which ghost cells are stale, and what kernels reach beyond their chunks.

use std::cell::RefCell;
use std::rc::Rc;

use zippy::history::{Finding, GhostState, Problem};
use zippy::world::ArrayKind;
use zippy::{Config, Exchange, GlobalArray, KernelSource, Layout, Operator, Result, Split, World, run_with};

use crate::support::launcher;
use crate::support::{RANKS, ranks};

/// Runs a program on some numbers of ranks in checked runs, and returns what each rank found, for each number.
fn checked(counts: &[usize], program: impl Fn(&World) -> Result<()> + Send + Sync) -> Vec<Vec<String>> {
    let run = |ranks: usize| {
        let found = run_with(Config::threads(ranks).check(true), |world| {
            program(world)?;
            // What was read last is looked at when the ranks meet once more.
            world.barrier()?;
            Ok(world.findings().iter().map(short).collect::<Vec<_>>())
        });
        let mut all: Vec<String> = found.unwrap_or_else(|error| panic!("on {ranks} ranks: {error}")).concat();
        all.sort();
        all.dedup();
        all
    };
    launcher::counts(counts).into_iter().map(run).collect()
}

/// A finding without what depends on which chunk comes first.
fn short(finding: &Finding) -> String {
    let Finding { array, site, problem, .. } = finding;
    let site = format!("{}:{}", site.operation(), site.location().line());
    match problem {
        Problem::StaleGhosts { side, filled, writer, .. } => {
            format!("{array} {side:?} {} by {site}, after {}", if *filled { "stale" } else { "never" }, line(writer))
        }
        Problem::LoadOutside(stray) => format!("{array} load outside at {:?} by {site}", &stray.position[..]),
        Problem::StoreOutside(stray) => format!("{array} store outside at {:?} by {site}", &stray.position[..]),
    }
}

/// A writer without the column and the file.
fn line(writer: &str) -> String {
    let (what, at) = writer.split_once(" at ").unwrap_or((writer, ""));
    let line = at.split(':').nth(1).unwrap_or("?");
    format!("{}:{line}", what.split('(').next().unwrap_or(what))
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

/// Steps of a stencil; after the second one ghost cells are not updated any more.
fn steps(world: &World, reach: i64, forgets: bool) -> Result<[u32; 2]> {
    let [one, two] = fields(world)?;
    let kernel = world.kernel(KernelSource::text("stencil", STENCIL.replace("REACH", &reach.to_string())))?;
    one.fill_with(|[x, y]| (x + 100 * y) as f32)?;
    let (mut from, mut to, mut at) = (&one, &two, [0; 2]);
    for step in 0..4 {
        if step < 2 || !forgets {
            world.exchange(Exchange::new().ghosts(from).faces_only())?;
        }
        for (from, to) in zippy::together((from, to))? {
            at = [line!(), line!() + 1];
            kernel.call().read("u", from.all()).write("out", to.all()).run()?;
        }
        (from, to) = (to, from);
    }
    Ok(at)
}

#[test]
fn a_program_in_order_is_silent() {
    for found in checked(&[1, 2, 3], |world| steps(world, 1, false).map(drop)) {
        assert_eq!(found, [""; 0], "nothing is wrong");
    }
}

#[test]
fn a_missing_update_is_found() {
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
fn findings_name_the_call() {
    run_with(Config::threads(2).check(true), |world| {
        let [_, run] = steps(world, 1, true)?;
        world.debug_point("done")?;
        let findings = world.findings();
        assert!(!findings.is_empty());
        for finding in findings {
            let at = finding.site.location();
            assert_eq!((at.line(), at.file().ends_with("history.rs")), (run, true), "{finding}");
            assert!(finding.to_string().contains("update the ghost cells in between"), "{finding}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_wide_stencil_is_found() {
    for found in checked(&[1, 2, 3], |world| steps(world, 3, false).map(drop)) {
        // Chunks are 3 to 5 cells wide and have one layer of ghost cells.
        assert!(found.iter().any(|one| one.starts_with("one load outside at [-3, 0] by kernel")), "{found:?}");
        assert!(found.iter().all(|one| one.contains("outside")), "{found:?}");
    }
}

#[test]
fn stores_outside_are_found() {
    let text = "
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if out_inside(p) { out_store(p + 1, 1.0); }
}";
    run_with(Config::threads(1).check(true), |world| {
        let array = world.array::<f32, 1>("row", &Layout::new([20]))?;
        let kernel = world.kernel(KernelSource::text("kernel", text))?;
        let chunk = array.local()?;
        kernel.call().write("out", chunk.at(5..20)).run()?;
        let [finding] = &world.findings()[..] else { panic!("{:?}", world.findings()) };
        let Problem::StoreOutside(stray) = &finding.problem else { panic!("{finding}") };
        assert_eq!((stray.position[0], stray.invocation, stray.count), (20, Some([14, 0, 0]), 1), "{finding}");
        assert_eq!(chunk.all().read()?, [vec![0.0; 6], vec![1.0; 14]].concat());
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_forgotten_component_is_found() {
    let text = "
@group(0) @binding(0) var<storage, read> f: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    // Component 1 comes from below, 3 from above, 0 and 2 from here.
    let origin = array<i32, 4>(0, 1, 0, -1);
    out_store(p, f_load(vec2(p.x - origin[p.y], p.y)));
}";
    let stream = |world: &World, above: usize| -> Result<()> {
        let layout = Layout::new([9, 4]).split([Split::Even(3), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let (f, out) = (world.array::<u32, 2>("f", &layout)?, world.array::<u32, 2>("out", &layout)?);
        let kernel = world.kernel(KernelSource::text("kernel", text))?;
        f.fill_with(|[x, c]| (4 * x + c) as u32)?;
        world.exchange(Exchange::new().ghosts(&f).components(1, |side| vec![if side[0] < 0 { 1 } else { above }]))?;
        for (f, out) in zippy::together((&f, &out))? {
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

/// What one rank alone writes is known to the others when they have met.
#[test]
fn the_writes_of_one_rank_are_told() {
    let program = |world: &World| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]);
        let line = world.array::<f32, 1>("line", &layout)?;
        line.fill(1.0)?;
        world.ghosts(&line)?;
        for chunk in line.chunks().filter(|chunk| chunk.id() == 2) {
            chunk.at(0..1).fill(2.0)?;
        }
        world.barrier()?;
        let sides = world.ghost_states(&line)?;
        for side in sides {
            // Its first cell is a ghost cell of the chunk before it only.
            let stale = (side.chunk, side.side[0]) == (1, 1);
            assert_eq!(side.state, if stale { GhostState::Stale } else { GhostState::Fresh }, "{side:?}");
        }
        for chunk in line.chunks() {
            chunk.with_ghosts().read()?;
        }
        world.barrier()?;
        let differ = world.compare_ghosts(&line)?;
        let here = line.chunks().any(|chunk| chunk.id() == 1);
        assert_eq!(
            differ.iter().map(|one| (one.chunk, one.side[0], one.cells)).collect::<Vec<_>>(),
            [(1, 1, 1)][..usize::from(here)]
        );
        world.ghosts(&line)?;
        assert!(world.ghost_states(&line)?.iter().all(|side| side.state == GhostState::Fresh));
        assert_eq!(world.compare_ghosts(&line)?, []);
        Ok(())
    };
    for found in checked(&[1, 2, 3, 4], program) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("line [1] stale by read:") && found[0].contains("after fill:"), "{found:?}");
    }
}

/// Interior and ghost update at the same time, and steps in place with lists both ways, as a flow solver has them.
#[test]
fn overlap_and_both_ways_are_in_order() {
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
fn states_are_asked_for_in_checked_runs() {
    run_with(Config::threads(2).check(false), |world| {
        let [one, two] = fields(world)?;
        let error = world.ghost_states(&one).unwrap_err().to_string();
        assert!(error.contains("set ZIPPY_CHECK=1"), "{error}");
        two.fill(1.0)?;
        assert!(!world.compare_ghosts(&two)?.iter().any(|one| one.side == [0, 0]));
        assert!(world.findings().is_empty());
        Ok(())
    })
    .unwrap();
    run_with(Config::threads(2).check(true), |world| {
        let [one, _] = fields(world)?;
        assert!(world.ghost_states(&one)?.iter().all(|side| side.state == GhostState::NeverFilled));
        world.ghosts(&one)?;
        assert!(world.ghost_states(&one)?.iter().all(|side| side.state == GhostState::Fresh));
        let ranks = one.core().chunks().count();
        let _reversed = one.reassigned(&(0..ranks).collect::<Vec<_>>())?;
        assert!(world.ghost_states(&one).unwrap_err().to_string().contains("another handle"));
        Ok(())
    })
    .unwrap();
}

#[test]
fn arrays_are_listed_with_their_writers() {
    ranks(RANKS, |world| {
        let layout =
            Layout::new([world.size() as i64, 3]).split([Split::Even(world.size()), Split::Whole]).ghost([1, 0]);
        let [a, b] = ["a", "b"].map(|name| world.array::<u32, 2>(name, &layout));
        let (a, b) = (a?, b?);
        let mut list = world.growable::<[f32; 2]>("list")?;
        let scratch = world.local_array::<u8, 1>("scratch", &Layout::new([10]))?;
        let find = |name: &str| world.arrays().into_iter().find(|array| array.name == name).expect("it is alive");
        assert!(find("a").chunks.iter().all(|chunk| (chunk.writes, chunk.last_writer.is_none()) == (0, true)));
        a.fill(1)?;
        let here = line!() + 1;
        world.copy(a.at(..), b.at(..))?;
        world.ghosts(&b)?;
        list.append(&[[1.0; 2]; 5])?;
        scratch.at(2..4).write(&[1, 2])?;
        let b = find("b");
        assert_eq!((b.kind, b.element, b.chunk_count), (ArrayKind::Global, "u32", world.size()));
        for chunk in &b.chunks {
            let writer = chunk.last_writer.as_ref().expect("it was copied to");
            assert_eq!((chunk.writes, writer.location().line()), (1, here), "{writer}");
            assert!(writer.operation().starts_with("copy(") && writer.kernel().is_none(), "{writer}");
            assert!(chunk.bytes >= 36);
        }
        let list = find("list");
        assert_eq!((list.kind, list.shape[0], list.chunks[0].writes), (ArrayKind::Growable, 5, 1));
        assert_eq!((find("scratch").kind, find("scratch").chunks[0].writes), (ArrayKind::Local, 1));
        assert!(find("list").to_string().starts_with("growable \"list\": "), "{}", find("list"));
        drop(scratch);
        assert!(!world.arrays().iter().any(|array| array.name == "scratch"));
        Ok(())
    });
}

#[test]
fn observers_are_called_at_debug_points() {
    ranks(&[1, 3], |world| {
        let array = world.array::<f32, 1>("array", &Layout::new([6]).split([Split::Even(world.size())]))?;
        let seen = Rc::new(RefCell::new(Vec::new()));
        world.debug_point("nobody looks")?;
        array.fill(1.0)?;
        let list = seen.clone();
        world.observe(move |world, point| {
            let written = world.arrays()[0].chunks[0].last_writer.as_ref().map(|site| site.step());
            list.borrow_mut().push((point.name.clone(), point.step, written));
            // Within it nobody looks.
            world.debug_point("inside")
        });
        world.debug_point("first")?;
        array.fill(2.0)?;
        world.debug_point("second")?;
        world.stop_observing();
        world.debug_point("nobody looks again")?;
        assert_eq!(*seen.borrow(), [("first".into(), 2, Some(1)), ("second".into(), 4, Some(3))]);
        world.observe(|_, point| Err(zippy::Error::program(format!("enough at {}", point.name))));
        assert!(world.debug_point("here").unwrap_err().to_string().contains("enough at here"));
        Ok(())
    });
}
