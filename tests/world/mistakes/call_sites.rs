//! Call sites in errors: the line of the program, and with several ranks also the rank.

use std::panic::Location;
use std::sync::Mutex;

use zippy::algorithms::reduce::Bins;
use zippy::error::ErrorKind;
use zippy::{Config, Error, Exchange, KernelSource, Layout, Operator, Result, Split, World, run_with};
use zippy_primitives::Primitives;

use crate::support::jobs::Ended;
use crate::support::{launcher, ranks};
use zippy_testing::job;

const STORE: &str = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<uniform> rate: f32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = a_position(id);
    if a_inside(p) { a_store(p, rate); }
}";

/// Checks that the error of a call ends with the line of the caller, and returns the error.
#[track_caller]
fn check_call_site<R>(result: Result<R>) -> Error {
    let (Err(error), line) = (result.map(drop), Location::caller()) else { panic!("no error") };
    let at = error.call_site().unwrap_or_else(|| panic!("no line: {error}"));
    assert_eq!((at.file(), at.line()), (line.file(), line.line()), "{error}");
    assert!(error.to_string().ends_with(&format!("at {at}")), "{error}");
    error
}

#[test]
fn error_of_each_kind_of_call_names_its_line() {
    ranks(&[1, 3], |world| {
        let layout = Layout::new([12, 9]).split([Split::Even(world.size()), Split::Whole]).ghost([1, 0]);
        let a = world.array::<f32, 2>("a", &layout)?;
        let list = world.array::<f32, 1>("list", &Layout::new([9]))?;
        check_call_site(world.array::<f32, 2>("a", &layout));
        check_call_site(world.array::<f32, 3>("axes", &layout));
        check_call_site(world.local_array::<f32, 1>("local", &Layout::new([-3])));
        check_call_site(world.copy(a.at((0..3, ..)), a.at((0..4, ..))));
        check_call_site(world.start_copy(a.at((0..3, ..)), a.at((0..4, ..))));
        check_call_site(world.composite(a.at((0..13, ..)), a.at((0..13, ..)), Operator::Add));
        check_call_site(world.exchange(Exchange::new().ghosts(&a).components(7, |_| vec![])));
        check_call_site(world.plan(Exchange::new().ghosts(&a).components(7, |_| vec![])));
        check_call_site(world.get(a.at((5..99, ..))));
        check_call_site(world.put(&[1.0], a.at((0..2, ..))));
        check_call_site(world.sum(a.at((0..99, ..))));
        check_call_site(world.max(a.at((0..99, ..))));
        check_call_site(world.norm(a.at((0..99, ..))));
        check_call_site(world.histogram(a.at((0..99, ..)), &Bins::even(0.0, 1.0, 4)?));
        check_call_site(Bins::even(1.0, 0.0, 4));
        check_call_site(a.at((0..99, ..)).fill(0.0));
        check_call_site(a.at((0..99, ..)).fill_with(|_| 0.0));
        check_call_site(a.reassigned(&[7; 3]));
        check_call_site(world.kernel(KernelSource::text("broken.wgsl", "fn main( {")));
        let store = world.kernel(KernelSource::text("store.wgsl", STORE))?;
        for chunk in a.chunks() {
            check_call_site(store.call().read("b", chunk.all()).run());
            check_call_site(chunk.all().write(&[1.0]));
            check_call_site(store.call().write("a", chunk.at((0..99, ..))).param("rate", 1.0_f32).run());
        }
        check_call_site(world.elementwise("x +").call().write("a", a.at((.., ..))));
        check_call_site(world.vectors().merge(list.at(0..3), list.at(0..4), list.at(0..2)));
        check_call_site(world.agree("an opinion", Err::<(), _>(Error::program("no"))));
        Ok(())
    });
}

#[test]
fn error_of_another_rank_names_the_line_there() {
    for count in launcher::counts(&[2, 3, 5]) {
        let lines = Mutex::new(Vec::new());
        let error = run_with(Config::threads(count), |world| {
            let here = line!() + 1;
            let own = if world.rank() == 1 { Err(Error::program("disk full")) } else { Ok(()) };
            let agreed = world.agree("opening", own).unwrap_err();
            lines.lock().unwrap().push((here, agreed.call_site().map(|at| (at.file(), at.line()))));
            // The next failure must not arrive before the report of this one.
            world.barrier()?;
            if world.rank() == 1 { Err(Error::program("part 1 is missing")) } else { world.barrier() }
        });
        for (here, at) in lines.into_inner().unwrap() {
            assert_eq!(at, Some((file!(), here)));
        }
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("rank 1 failed in its program: part 1 is missing at "), "{text}");
        assert_eq!(text.matches(" at ").count(), 1, "{text}");
        assert!(text.contains(&format!("{}:{}:", file!(), line!() - 8)), "{text}");
    }
}

#[test]
fn start_of_a_run_that_fails_names_the_line_of_the_run() {
    let error = run_with(Config::threads(100_000), |_| Ok(())).unwrap_err();
    assert_eq!(error.call_site().map(|at| (at.file(), at.line())), Some((file!(), line!() - 1)), "{error}");
    if launcher::size().is_none() {
        let error = run_with(Config::threads(2), |world| {
            let a = world.array::<f32, 1>("a", &Layout::new([4]))?;
            world.put(&[1.0], a.at(0..1)).map(drop)
        });
        let error = error.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Array(_)), "{error}");
        let at = error.call_site().map(|at| (at.file(), at.line()));
        assert_eq!(at, Some((file!(), line!() - 7)), "no fence: {error}");
    }
}

fn opens_a_missing_file(world: &World) -> Result<()> {
    if world.rank() == 1 {
        std::fs::read("/nonexistent/input.raw")?;
    }
    world.barrier()
}

fn missing_file() -> Result<()> {
    zippy::run(opens_a_missing_file)
}

job!(error_of_the_standard_library_names_rank_and_line_as_threads_and_processes, 3, missing_file, |ended: &Ended| {
    ended.must_have_failed();
    let lines = ended.lines("rank 1 failed in its program: No such file or directory (os error 2) at ");
    assert_eq!(lines.len(), 1, "{}", ended.text);
    assert!(lines[0].contains(concat!(file!(), ":")), "{}", ended.text);
});
