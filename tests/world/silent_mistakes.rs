//! Mistakes without an effect on results: a warning names the call site.

use zippy::Exchange;
use zippy::{Layout, Split, World};

use crate::support;
use zippy_testing::log::Log;

/// Log lines that mention an array.
fn log_lines_with(log: &Log, array: &str) -> Vec<String> {
    log.text().lines().filter(|line| line.contains(&format!("{array:?}"))).map(str::to_owned).collect()
}

#[test]
fn ghost_update_without_ghost_cells_warns_once_per_call_site() {
    support::ranks(&[3], |world| {
        let log = Log::listen();
        let layout = Layout::new([12]).split([Split::Even(world.size())]);
        let without = world.array::<f32, 1>("without", &layout)?;
        let with = world.array::<f32, 1>("with", &layout.clone().ghost([1]))?;
        let both = world.array::<f32, 1>("both", &layout)?;
        let mut line = 0;
        for _ in 0..5 {
            world.ghosts(&with)?;
            (_, line) = (world.ghosts(&without)?, line!());
            world.start_ghosts(&with)?.wait()?;
        }
        world.barrier()?;
        if world.rank() == 0 {
            let told = log_lines_with(&log, "without");
            assert!(told.len() == 1 && told[0].contains(&format!("silent_mistakes.rs:{line}:")), "{told:?}");
        }
        world.start_ghosts(&without)?.wait()?;
        world.exchange(Exchange::new().ghosts(&with).ghosts(&both))?;
        world.barrier()?;
        if world.rank() == 0 {
            assert_eq!(
                (
                    log_lines_with(&log, "without").len(),
                    log_lines_with(&log, "both").len(),
                    log_lines_with(&log, "with").len()
                ),
                (2, 1, 0)
            );
        }
        world.barrier()
    });
}

#[test]
fn permuted_copy_error_names_required_extents() {
    support::ranks(&[1, 2], |world: &World| {
        let rows = world.array::<f32, 3>("rows", &Layout::new([4, 5, 6]))?;
        let other = world.array::<f32, 3>("other", &Layout::new([4, 5, 6]))?;
        let error = world
            .exchange(Exchange::new().copy(rows.at(..), other.at(..)).permuted([2, 0, 1]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("has 4 x 5 x 6 where 6 x 4 x 5 are wanted, as its axes take source axes [2, 0, 1]"),
            "{error}"
        );
        let fits = world.array::<f32, 3>("fits", &Layout::new([6, 4, 5]))?;
        world.exchange(Exchange::new().copy(rows.at(..), fits.at(..)).permuted([2, 0, 1]))?;
        Ok(())
    });
}
