//! Programs that initialise MPI themselves.

use mpi::environment::Threading;
use mpi::topology::{Color, Communicator};
use zippy::error::{ErrorKind, TransportError};
use zippy::transport::{Group, TransportKind, copied, launch, run_on, values};
use zippy::{Config, Error, Result};

use crate::support::jobs::Ended;
use zippy_testing::job;

fn check_refused(result: Result<impl Sized>, text: &str) {
    match result.map(drop).unwrap_err().into_kind() {
        ErrorKind::Transport(TransportError::Foreign(found)) => assert!(found.contains(text), "{found}"),
        other => panic!("{other}"),
    }
}

fn sum_of_ranks(group: &Group) -> Result<u64> {
    let mut sum = [group.rank() as u64];
    group.all_reduce(&mut sum, |a, b| *a += b)?;
    Ok(sum[0])
}

fn run_on_sub_communicator() -> Result<()> {
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).unwrap();
    let world = universe.world();
    check_refused(launch(&Config::new(), |_| Ok(())), "zippy::run_on");
    let even = world.rank() % 2 == 0;
    let part = world.split_by_color_with_key(Color::with_value(i32::from(even)), -world.rank()).unwrap();
    let expected = if even { vec![2, 0] } else { vec![3, 1] };
    for round in 0..3_u64 {
        let sum = run_on(&part, |group| {
            assert_eq!((group.kind(), group.size()), (TransportKind::Mpi, 2));
            let ranks = group.all_gather_v(copied(&[world.rank() as u64 + round]))?;
            for (payload, rank) in ranks.iter().zip(&expected) {
                assert_eq!(values::<u64>(payload)?, [rank + round]);
            }
            sum_of_ranks(&group)
        })?;
        assert_eq!(sum, 1);
    }
    let failed = run_on(&part, |group| match (even, group.rank()) {
        (true, 1) => Err(Error::program("no")),
        _ => sum_of_ranks(&group),
    });
    assert_eq!(failed.is_err(), even, "{failed:?}");
    assert_eq!(run_on(&world, |group| sum_of_ranks(&group))?, 6);
    println!("rank {} is done", world.rank());
    Ok(())
}

job!(mpi communicator_of_the_program, 4, run_on_sub_communicator, |ended: &Ended| {
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert_eq!(ended.lines("is done").len(), 4, "{}", ended.text);
});

fn run_with_wrong_initialisation() -> Result<()> {
    let world = mpi::topology::SimpleCommunicator::world();
    check_refused(run_on(&world, |_| Ok(())), "not initialised");
    let universe = mpi::initialize().unwrap();
    if mpi::environment::threading_support() == Threading::Single {
        check_refused(run_on(&world, |_| Ok(())), "Threading::Funneled");
    }
    drop(universe);
    check_refused(run_on(&world, |_| Ok(())), "finalised");
    println!("rank is done");
    Ok(())
}

job!(mpi mpi_without_threads_is_refused, 2, run_with_wrong_initialisation, |ended: &Ended| {
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert_eq!(ended.lines("is done").len(), 2, "{}", ended.text);
});

fn run_on_another_thread() -> Result<()> {
    let (universe, level) = mpi::initialize_with_threading(Threading::Funneled).unwrap();
    let result = std::thread::scope(|scope| {
        let run = || run_on(&mpi::topology::SimpleCommunicator::world(), |group| sum_of_ranks(&group));
        scope.spawn(run).join().unwrap()
    });
    match level {
        Threading::Funneled => check_refused(result, "Threading::Serialized"),
        _ => assert_eq!(result?, 1),
    }
    println!("rank is done");
    drop(universe);
    Ok(())
}

job!(mpi run_on_another_thread_is_refused, 2, run_on_another_thread, |ended: &Ended| {
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert_eq!(ended.lines("is done").len(), 2, "{}", ended.text);
});

fn arrays_on_sub_communicator() -> Result<()> {
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).unwrap();
    let world = universe.world();
    let color = if world.rank() == 0 { Color::undefined() } else { Color::with_value(1) };
    if let Some(part) = world.split_by_color(color) {
        zippy::run_on(&part, |zippy| {
            let layout = zippy::Layout::new([12]).split([zippy::Split::Even(zippy.size())]);
            let (from, to) = (zippy.array::<i32, 1>("from", &layout)?, zippy.array::<i32, 1>("to", &layout)?);
            from.fill_with(|[x]| 100 + x as i32)?;
            zippy.copy(from.at(0..9), to.at(3..12))?;
            for chunk in to.chunks() {
                for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                    assert_eq!(value, if p[0] < 3 { 0 } else { 97 + p[0] as i32 });
                }
            }
            println!("rank {} of {} is done", zippy.rank(), zippy.size());
            Ok(())
        })?;
    }
    Ok(())
}

job!(mpi arrays_on_communicator_of_the_program, 3, arrays_on_sub_communicator, |ended: &Ended| {
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    assert_eq!(ended.lines("of 2 is done").len(), 2, "{}", ended.text);
});
