//! Mistakes that change no result by themselves: people are told of them, at the place in their program.

mod support;
under_mpi!();

use std::io::Write;
use std::sync::{Mutex, OnceLock};

use zippy::world::GhostUpdate;
use zippy::{Layout, Split, World};

/// What was logged by all ranks of this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().expect("no test panics while it writes").write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The lines about an array.
fn logged(array: &str) -> Vec<String> {
    let log = LOG.lock().expect("no test panics while it reads");
    let text = String::from_utf8_lossy(&log);
    text.lines().filter(|line| line.contains(&format!("{array:?}"))).map(str::to_owned).collect()
}

fn listen() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| Log).init());
}

#[test]
fn a_ghost_update_without_ghost_cells_is_told_once_with_its_place() {
    listen();
    support::ranks(&[3], |world| {
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
            let told = logged("without");
            assert!(told.len() == 1 && told[0].contains(&format!("silent_mistakes.rs:{line}:")), "{told:?}");
        }
        world.start_ghosts(&without)?.wait()?;
        world.update_ghosts(GhostUpdate::of(&with).and(&both))?;
        world.barrier()?;
        if world.rank() == 0 {
            assert_eq!((logged("without").len(), logged("both").len(), logged("with").len()), (2, 1, 0));
        }
        world.barrier()
    });
}

#[test]
fn a_permuted_copy_says_which_extents_are_wanted() {
    support::ranks(&[1, 2], |world: &World| {
        let rows = world.array::<f32, 3>("rows", &Layout::new([4, 5, 6]))?;
        let other = world.array::<f32, 3>("other", &Layout::new([4, 5, 6]))?;
        let error = world.copy_permuted(rows.at(..), other.at(..), [2, 0, 1]).unwrap_err().to_string();
        assert!(
            error.contains("has 4 x 5 x 6 where 6 x 4 x 5 are wanted, as its axes take source axes [2, 0, 1]"),
            "{error}"
        );
        let fits = world.array::<f32, 3>("fits", &Layout::new([6, 4, 5]))?;
        world.copy_permuted(rows.at(..), fits.at(..), [2, 0, 1])?;
        Ok(())
    });
}
