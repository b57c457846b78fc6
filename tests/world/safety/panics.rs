//! Caught panics do not end the job.

use zippy::error::{DeviceError, ErrorKind};
use zippy::{Layout, Split};
use zippy_device::device::InjectedFailure;

use super::failures::{as_is, failing};
use crate::support::{launcher, ranks};

/// wgpu panics in the poll. Only this rank has its own error, and the job continues until all ranks
/// have returned.
#[test]
fn device_lost_in_a_poll_is_an_error() {
    for count in launcher::counts(&[1, 2, 3]) {
        let errors = failing(count, as_is, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]).split([Split::Auto]))?;
            world.barrier()?;
            if world.rank() + 1 == world.size() {
                world.gpu().inject_failure(InjectedFailure::LostInPoll);
            }
            world.elementwise("x + 1.0").call().write("x", array.at(..))?;
            world.barrier()
        });
        assert!(!errors.is_empty());
        for (rank, error) in errors {
            let text = error.to_string();
            assert!(text.contains("injected failure, found in a poll"), "{text}");
            match error.kind() {
                ErrorKind::Device(DeviceError::Lost { .. }) => assert_eq!(rank + 1, count),
                ErrorKind::Remote { rank: of, .. } => assert_eq!(of + 1, count),
                _ => panic!("rank {rank}: {error}"),
            }
        }
    }
}

#[test]
fn panic_that_a_rank_catches_is_no_failure() {
    ranks(&[1, 2, 3], |world| {
        let array = world.array::<u32, 1>("array", &Layout::new([9]).split([Split::Auto]))?;
        for round in 0..2 {
            if world.rank() + 1 == world.size() {
                let caught = std::panic::catch_unwind(|| assert_eq!(round, 5, "caught"));
                assert!(caught.is_err());
            }
            array.fill(round)?;
            assert_eq!(world.sum(array.at(..))?, i128::from(9 * round));
        }
        Ok(())
    });
}
