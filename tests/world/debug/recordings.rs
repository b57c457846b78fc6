//! What is recorded is what was there; a recording that was cut off opens up to there.

use std::io::Cursor;

use zippy::debug::protocol::{ArrayEntry, Recorded, View};
use zippy::debug::recording::Reader;
use zippy::debug::{Settings, attach};
use zippy::{Config, Layout, Split, run_with};

use crate::support::launcher;

fn entries(bytes: &[u8]) -> (Vec<Recorded>, Option<String>) {
    let mut reader = match Reader::new(Cursor::new(bytes)) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let mut all = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => all.push(entry),
            Ok(None) => return (all, None),
            Err(error) => return (all, Some(error.to_string())),
        }
    }
}

fn recorded(count: usize, words: &str) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.zrec");
    run_with(Config::threads(count), |world| {
        attach(world, &Settings::parse(&format!("record:{}{words}", file.display())).unwrap())?;
        let a = world.array::<f32, 2>("a", &Layout::new([6, 5]).split([Split::Even(2), Split::Even(world.size())]))?;
        for step in 0..4 {
            assert_eq!(world.is_observed("step"), words.is_empty() || step % 2 == 0);
            a.fill_with(|[x, y]| (x + 10 * y + 100 * step) as f32)?;
            world.debug_point("step")?;
        }
        Ok(())
    })
    .unwrap();
    // Under a launcher the other processes have a directory of their own, and nothing in it.
    std::fs::read(file).ok()
}

#[test]
fn each_step_is_there() {
    for count in launcher::counts(&[1, 3]) {
        for (words, steps, stride) in [("", &[1, 2, 3, 4][..], [1, 1]), (",every:2,most:40", &[1, 3], [2, 2])] {
            let Some(bytes) = recorded(count, words) else { continue };
            let (all, error) = entries(&bytes);
            assert_eq!(error, None);
            assert!(matches!(&all[0], Recorded::Program(program) if program.ranks == count as u32));
            let points: Vec<u64> = all
                .iter()
                .filter_map(|entry| if let Recorded::Point(point) = entry { Some(point.step) } else { None })
                .collect();
            assert_eq!(points, steps);
            let arrays: Vec<&Vec<ArrayEntry>> = all
                .iter()
                .filter_map(|entry| if let Recorded::Arrays(arrays) = entry { Some(arrays) } else { None })
                .collect();
            assert!(
                arrays.len() == steps.len() && arrays.iter().all(|arrays| arrays.len() == 1 && arrays[0].name == "a")
            );
            let views: Vec<&View> = all
                .iter()
                .filter_map(|entry| if let Recorded::View(view) = entry { Some(view) } else { None })
                .collect();
            for (view, &step) in views.iter().zip(steps) {
                assert_eq!((view.step, &*view.of.stride), (step, &stride[..]));
                let seen: Vec<f32> = bytemuck::pod_collect_to_vec(&view.cells);
                let rows = (0..5).step_by(stride[1] as usize);
                let expected: Vec<f32> = rows
                    .flat_map(|y| (0..6).step_by(stride[0] as usize).map(move |x| x + 10 * y))
                    .map(|cell| (cell + 100 * (step as i64 - 1)) as f32)
                    .collect();
                assert_eq!(seen, expected);
            }
            assert_eq!(views.len(), steps.len());
            assert!(matches!(all.last(), Some(Recorded::End(_))));
        }
    }
}

#[test]
fn a_recording_that_was_cut_off_opens_up_to_there() {
    let Some(bytes) = recorded(launcher::counts(&[2])[0], "") else { return };
    let (all, _) = entries(&bytes);
    let mut longest = 0;
    for length in 0..bytes.len() {
        let (found, error) = entries(&bytes[..length]);
        assert!(found.len() < all.len() && found[..] == all[..found.len()] && found.len() >= longest);
        longest = found.len();
        assert!(error.is_some() || length >= 10, "{length}");
    }
    assert_eq!(longest, all.len() - 1);
    // A byte that has changed is found, and nothing behind it is taken for good.
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let (found, error) = entries(&damaged);
        assert!(error.is_some() && found[..] == all[..found.len()], "byte {at}");
    }
}
