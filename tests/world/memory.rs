//! Creation of arrays larger than the memory of the ranks: all ranks return the same error, and the
//! world stays usable.

use std::process::Command;

use zippy::error::{ArrayError, DeviceError, ErrorKind};
use zippy::{ArrayOptions, Element, Error, GlobalArray, Layout, Ownership, Result, Split, World};

use crate::support;

/// Text of the error, which must be equal on all ranks.
fn common_error_text<T: Element + std::fmt::Debug, const D: usize>(
    world: &World,
    result: Result<GlobalArray<T, D>>,
) -> Result<ArrayError> {
    let kind = result.map(drop).map_err(Error::into_kind);
    let Err(ErrorKind::Array(error @ ArrayError::Memory { .. })) = kind else { panic!("{kind:?}") };
    let text = error.to_string();
    let texts = world.group().all_gather_v(Box::new(text.clone().into_bytes()))?;
    assert!(texts.iter().all(|other| (**other).as_ref() == text.as_bytes()), "the same on every rank: {text}");
    Ok(error)
}

fn auto<const D: usize>(shape: [i64; D]) -> Layout {
    Layout::new(shape).split_all(Split::Auto)
}

#[test]
fn array_larger_than_any_machine_is_refused() {
    support::ranks(&[1, 3], |world| {
        // With small bindings, the array would have more chunks than allowed.
        if world.gpu().memory_limits().rank_bytes == u64::MAX || std::env::var_os("ZIPPY_BINDING_LIMIT").is_some() {
            return Ok(());
        }
        let text = common_error_text(world, world.array::<f32, 2>("plane", &auto([400_000, 400_000])))?.to_string();
        assert!(
            text.contains("array \"plane\" of 400000 x 400000 f32 needs 640") && text.contains("would fit"),
            "{text}"
        );
        common_error_text(world, world.array::<f32, 1>("line", &auto([1 << 38])))?;
        common_error_text(world, world.array::<u8, 3>("block", &auto([1 << 13, 1 << 13, 1 << 20])))?;
        let small = world.array::<f32, 2>("plane", &auto([40, 40]))?;
        small.fill(0.5)?;
        assert_eq!(world.sum(small.at(..))?, 800.0);
        Ok(())
    });
}

const MIB: u64 = 1 << 20;
const RANK_MEMORY_LIMIT: u64 = 64 * MIB;

/// Runs the next test in a process in which every rank has little memory.
#[test]
fn little_memory() {
    if std::env::var_os("ZIPPY_MEMORY_LIMIT").is_some() || support::launcher::size().is_some() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
    command.args(["--exact", "world::memory::what_fits"]).env("ZIPPY_MEMORY_LIMIT", RANK_MEMORY_LIMIT.to_string());
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("what_fits ... ok"), "{}", text(&output.stdout));
}

#[test]
fn what_fits() {
    if std::env::var("ZIPPY_MEMORY_LIMIT") != Ok(RANK_MEMORY_LIMIT.to_string()) {
        return;
    }
    support::ranks(&[1, 3], |world| {
        let ranks = world.size() as i64;
        let bytes = |mib: i64| {
            Layout::new([(mib << 20) / (4 * ranks), 4 * ranks]).split([Split::Whole, Split::Even(4 * world.size())])
        };
        let array = |name: &str, mib: i64| world.array::<u8, 2>(name, &bytes(mib));
        let error = common_error_text(world, array("much", 80 * ranks))?;
        let ArrayError::Memory {
            bytes: needed, rank: 0, of_rank, all_have, rank_has, taken: 0, fits, ranks: more, ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((rank_has, all_have), (RANK_MEMORY_LIMIT, world.size() as u64 * RANK_MEMORY_LIMIT));
        assert!(needed >= 80 * MIB * world.size() as u64 && of_rank <= needed);
        assert_eq!((fits.map(|shape| shape[1]), more), (Some(16 * ranks / 5), 5 * world.size() as u128 / 4 + 1));

        // Only live arrays count.
        let first = array("first", 40 * ranks)?;
        let error = common_error_text(world, array("second", 40 * ranks))?;
        assert!(
            matches!(error, ArrayError::Memory { taken, .. } if taken == 40 * MIB * world.size() as u64),
            "{error}"
        );
        let same = first.reassigned(&(0..4 * world.size()).collect::<Vec<_>>())?;
        array("third", 10 * ranks)?;
        drop((first, same));
        let second = array("second", 40 * ranks)?;
        second.fill(1)?;
        assert_eq!(world.sum(second.at(..))?, 40 * i128::from(MIB) * i128::from(ranks));
        drop(second);

        // All chunks on one rank are refused, although all ranks together have enough memory.
        if world.size() > 1 {
            let owners = Ownership::table(vec![1; 4 * world.size()], world.size())?;
            let error = common_error_text(
                world,
                world.array::<u8, 2>("there", ArrayOptions::new(&bytes(80)).owned_by(owners)),
            )?;
            assert!(matches!(error, ArrayError::Memory { rank: 1, .. }), "{error}");
            // The second of two arrays on the same rank is refused.
            let owners = || Ownership::table(vec![1; 4 * world.size()], world.size());
            let there = world.array::<u8, 2>("there", ArrayOptions::new(&bytes(48)).owned_by(owners()?))?;
            let error = common_error_text(
                world,
                world.array::<u8, 2>("there, too", ArrayOptions::new(&bytes(48)).owned_by(owners()?)),
            )?;
            let taken = matches!(error, ArrayError::Memory { rank: 1, taken_of_rank, .. } if taken_of_rank == 48 * MIB);
            assert!(taken, "{error}");
            drop(there);
        }

        // Local arrays.
        let local = |name: &str| world.local_array::<u8, 1>(name, &Layout::new([40 << 20]));
        let own = local("own")?;
        match local("more").map(drop).map_err(Error::into_kind) {
            Err(ErrorKind::Device(DeviceError::NoRoom { taken, limit: RANK_MEMORY_LIMIT, .. })) => {
                assert!(taken >= 40 * MIB)
            }
            other => panic!("{other:?}"),
        }
        drop(own);
        let mut list = world.growable::<f32>("list")?;
        list.set_len(5 << 20)?;
        match list.set_len(12 << 20).map_err(Error::into_kind) {
            Err(ErrorKind::Device(DeviceError::NoRoom { .. })) => assert_eq!(list.len(), 5 << 20),
            other => panic!("{other:?}"),
        }
        world.barrier()
    });
}
