//! Recordings: cells of the run, size limits, and truncated files.

use std::io::Cursor;

use zippy::debug::{Settings, attach};
use zippy::{Config, Layout, Split, run_with};
use zippy_protocol::recording::Reader;
use zippy_protocol::{ArrayEntry, GhostState, Recorded, SpanKind, View};

use crate::support::launcher;

fn read_entries(bytes: &[u8]) -> (Vec<Recorded>, Option<String>) {
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

fn record_program(count: usize, words: &str) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.zrec");
    run_with(Config::threads(count), |world| {
        attach(world, &Settings::parse(&format!("record:{}{words}", file.display())).unwrap())?;
        let a = world.array::<f32, 2>("a", &Layout::new([6, 5]).split([Split::Even(2), Split::Even(world.size())]))?;
        for step in 0..4 {
            assert_eq!(world.debug().is_observed("step"), words.is_empty() || step % 2 == 1);
            a.fill_with(|[x, y]| (x + 10 * y + 100 * step) as f32)?;
            world.debug_point("step")?;
        }
        Ok(())
    })
    .unwrap();
    // Under a launcher, each other process has a separate directory without a file.
    std::fs::read(file).ok()
}

#[test]
fn recording_has_cells_of_every_step() {
    for count in launcher::counts(&[1, 3]) {
        for (words, steps, stride) in [("", &[1, 2, 3, 4][..], [1, 1]), (",every:2,most:40", &[2, 4], [2, 2])] {
            let Some(bytes) = record_program(count, words) else { continue };
            let (all, error) = read_entries(&bytes);
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
                let observed: Vec<f32> = bytemuck::pod_collect_to_vec(&view.cells);
                let rows = (0..5).step_by(stride[1] as usize);
                let expected: Vec<f32> = rows
                    .flat_map(|y| (0..6).step_by(stride[0] as usize).map(move |x| x + 10 * y))
                    .map(|cell| (cell + 100 * (step as i64 - 1)) as f32)
                    .collect();
                assert_eq!(observed, expected);
            }
            assert_eq!(views.len(), steps.len());
            assert!(matches!(all.last(), Some(Recorded::End(_))));
        }
    }
}

#[test]
fn recording_has_ghost_cells_moves_times_and_local_arrays() {
    for count in launcher::counts(&[1, 3]) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.zrec");
        run_with(Config::threads(count).check(true), |world| {
            attach(world, &Settings::parse(&format!("record:{},most:16K", file.display())).unwrap())?;
            let layout = Layout::new([12]).split([Split::Even(3)]).ghost([2]).periodic([true]);
            let line = world.array::<i32, 1>("line", &layout)?;
            let large = world.array::<i32, 1>("large", &Layout::new([9000]).split([Split::Even(3)]).ghost([2]))?;
            large.fill(5)?;
            let own = world.local_array::<u16, 1>("own", &Layout::new([3 + world.rank() as i64]))?;
            own.all().write(&vec![40 + world.rank() as u16; 3 + world.rank()])?;
            for step in 1..=3 {
                line.fill_with(|[x]| x as i32 + 100 * step)?;
                if step != 2 {
                    world.ghosts(&line)?;
                }
                world.debug_point("step")?;
            }
            Ok(())
        })
        .unwrap();
        let Ok(bytes) = std::fs::read(file) else { continue };
        let (all, error) = read_entries(&bytes);
        assert_eq!(error, None);
        let arrays =
            all.iter().find_map(|entry| if let Recorded::Arrays(arrays) = entry { Some(arrays) } else { None });
        let named = |name: &str| arrays.unwrap().iter().find(|array| array.name == name).unwrap().array;
        let of = |name: &str| {
            let array = named(name);
            all.iter().filter_map(move |entry| match entry {
                Recorded::View(view) if view.of.array == array => Some(view),
                _ => None,
            })
        };
        let line: Vec<_> = of("line").collect();
        assert_eq!(line.len(), 9, "each chunk at each debug point");
        for (place, view) in line.iter().enumerate() {
            let (step, chunk) = (1 + place as i64 / 3, place as i64 % 3);
            let (start, end) = (4 * chunk - 2, 4 * chunk + 6);
            assert_eq!((view.step, view.of.chunk), (step as u64, Some(chunk as u64)));
            assert_eq!((&view.of.start[..], &view.of.end[..]), (&[start][..], &[end][..]));
            // In the second step, ghost cells have the values of the first step.
            let of = |x: i64| if step == 2 && !(start + 2..end - 2).contains(&x) { 1 } else { step };
            let expected: Vec<i32> = (start..end).map(|x| (x.rem_euclid(12) + 100 * of(x)) as i32).collect();
            assert_eq!(bytemuck::pod_collect_to_vec::<u8, i32>(&view.cells), expected);
        }
        assert!(of("large").all(|view| view.of.chunk.is_none() && view.cells.len() <= 16 << 10));
        let own = of("own").map(|view| view.cells.clone()).next().unwrap();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u16>(&own), [40; 3]);
        let mut states = Vec::new();
        let (mut moves, mut untils) = (Vec::new(), vec![0]);
        for entry in &all {
            match entry {
                Recorded::Ghosts(array, ghosts) if *array == named("line") => {
                    states.push(ghosts.iter().filter(|ghost| ghost.state == GhostState::Stale).count());
                    assert_eq!(ghosts.len(), 6);
                }
                Recorded::Moves(transfer) => moves.push(transfer),
                Recorded::Timeline(line) => {
                    let since = untils[untils.len() - 1];
                    assert!(line.ranks.len() == count && line.until > since);
                    let spans = || line.ranks.iter().flatten();
                    assert!(spans().all(|span| (since + 1..=line.until).contains(&(span.start + span.length))));
                    // The second step has no moves.
                    let moved = spans().any(|span| span.kind == SpanKind::Unpack || span.kind == SpanKind::Local);
                    assert!(spans().next().is_some() && moved == (untils.len() != 2), "{line:?}");
                    untils.push(line.until);
                }
                _ => {}
            }
        }
        assert_eq!((states, untils.len()), (vec![0, 6, 0], 4));
        // The third step moves the same boxes in another operation.
        let expected_text: Vec<_> =
            moves.iter().map(|of| (of.count, of.moves.len(), of.operation.contains("line"))).collect();
        assert_eq!(expected_text, [(6, 6, true), (6, 0, true)], "{moves:?}");
    }
}

/// A ghost update changes only ghost cells.
#[test]
fn unchanged_arrays_are_recorded_once() {
    for count in launcher::counts(&[1, 3]) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.zrec");
        run_with(Config::threads(count), |world| {
            attach(world, &Settings::record(&file))?;
            let layout = Layout::new([12]).split([Split::Even(3)]).ghost([1]).periodic([true]);
            let still = world.array::<i32, 1>("still", &layout)?;
            let moving = world.array::<i32, 1>("moving", &Layout::new([12]).split([Split::Even(3)]))?;
            still.fill_with(|[x]| x as i32 + 5)?;
            for step in 1..=6 {
                moving.fill(step)?;
                match step {
                    3 => drop(world.ghosts(&still)?),
                    // Writes the same cells again, then other cells.
                    4 => still.fill_with(|[x]| x as i32 + 5)?,
                    6 => still.at(7).fill(-1)?,
                    _ => {}
                }
                world.debug_point("step")?;
            }
            Ok(())
        })
        .unwrap();
        let Ok(bytes) = std::fs::read(file) else { continue };
        let (all, error) = read_entries(&bytes);
        assert_eq!(error, None);
        let arrays =
            all.iter().find_map(|entry| if let Recorded::Arrays(arrays) = entry { Some(arrays) } else { None });
        let still = arrays.unwrap().iter().find(|array| array.name == "still").unwrap().array;
        let (mut step, mut viewed, mut unchanged, mut moving) = (0, Vec::new(), Vec::new(), 0);
        for entry in &all {
            match entry {
                Recorded::Point(point) => step = point.step,
                Recorded::View(view) if view.of.array == still => viewed.push(step),
                Recorded::View(_) => moving += 1,
                Recorded::Unchanged(array, of) => {
                    assert_eq!(*array, still);
                    unchanged.push((step, *of));
                }
                _ => {}
            }
        }
        viewed.dedup();
        assert_eq!((viewed, unchanged, moving), (vec![1, 3, 6], vec![(2, 1), (4, 3), (5, 3)], 6));
    }
}

#[test]
fn recording_ends_at_its_limit_with_whole_debug_points() {
    const LIMIT: u64 = 64 << 10;
    for count in launcher::counts(&[1, 2]) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.zrec");
        let passed = run_with(Config::threads(count), |world| {
            attach(world, &Settings::record(&file).limit(LIMIT))?;
            let line = world.array::<i32, 1>("line", &Layout::new([3000]).split([Split::Even(2)]))?;
            for step in 0..20 {
                line.fill(step)?;
                world.debug_point("step")?;
            }
            Ok(world.sum(line.at(..))? == 19 * 3000)
        })
        .unwrap();
        assert!(passed.into_iter().all(|passed| passed), "the run goes on");
        let Ok(bytes) = std::fs::read(file) else { continue };
        assert!(bytes.len() as u64 <= LIMIT, "{} bytes", bytes.len());
        let (all, error) = read_entries(&bytes);
        assert_eq!(error, None);
        let count = |is: fn(&Recorded) -> bool| all.iter().filter(|entry| is(entry)).count();
        let points = count(|entry| matches!(entry, Recorded::Point(_)));
        // Each debug point has 12,000 bytes of cells.
        assert_eq!((points, count(|entry| matches!(entry, Recorded::View(_)))), (5, 5));
        assert_eq!(count(|entry| matches!(entry, Recorded::Timeline(_))), 5);
        let Some(Recorded::End(how)) = all.last() else { panic!("it has no end") };
        assert!(how.contains("limit of 64 KiB after debug point 5"), "{how}");
    }
}

/// A pipe keeps every written byte, so that no byte of a debug point beyond the limit may be
/// written.
#[test]
fn recording_with_a_limit_to_a_pipe_has_whole_debug_points() {
    const LIMIT: u64 = 64 << 10;
    for count in launcher::counts(&[1, 2]) {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("run.zrec");
        let reader = std::sync::Mutex::new(None);
        run_with(Config::threads(count), |world| {
            if world.rank() == 0 {
                assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
                let pipe = pipe.clone();
                *reader.lock().unwrap() = Some(std::thread::spawn(move || std::fs::read(pipe).unwrap()));
            }
            attach(world, &Settings::record(&pipe).limit(LIMIT))?;
            let line = world.array::<i32, 1>("line", &Layout::new([3000]))?;
            for step in 0..20 {
                line.fill(step)?;
                world.debug_point("step")?;
            }
            Ok(())
        })
        .unwrap();
        let Some(reader) = reader.into_inner().unwrap() else { continue };
        let (all, error) = read_entries(&reader.join().unwrap());
        assert_eq!(error, None);
        let count = |is: fn(&Recorded) -> bool| all.iter().filter(|entry| is(entry)).count();
        let points = count(|entry| matches!(entry, Recorded::Point(_)));
        assert_eq!((points, count(|entry| matches!(entry, Recorded::Timeline(_)))), (5, 5));
        let Some(Recorded::End(how)) = all.last() else { panic!("it has no end") };
        assert!(how.contains("limit of 64 KiB after debug point 5"), "{how}");
    }
}

/// A restarted program with its own files at multiples of 50.
#[test]
fn continued_run_is_recorded_at_steps_of_its_files() {
    for count in launcher::counts(&[2]) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.zrec");
        run_with(Config::threads(count), |world| {
            attach(world, &Settings::parse(&format!("record:{},every:50", file.display())).unwrap())?;
            world.debug().skip_points(1030);
            let line = world.array::<i32, 1>("line", &Layout::new([3]))?;
            for step in 1031..=1160 {
                line.fill(step)?;
                assert_eq!(world.debug().is_observed("step"), step % 50 == 0);
                world.debug_point("step")?;
            }
            world.debug().skip_points(7);
            Ok(())
        })
        .unwrap();
        let Ok(bytes) = std::fs::read(file) else { continue };
        let (all, _) = read_entries(&bytes);
        let found: Vec<(u64, i32)> = all
            .iter()
            .filter_map(|entry| match entry {
                Recorded::View(view) => Some((view.step, bytemuck::pod_collect_to_vec::<u8, i32>(&view.cells)[2])),
                _ => None,
            })
            .collect();
        assert_eq!(found, [(1050, 1050), (1100, 1100), (1150, 1150)]);
    }
}

#[test]
fn truncated_recording_opens_up_to_last_whole_entry() {
    let Some(bytes) = record_program(launcher::counts(&[2])[0], "") else { return };
    let (all, _) = read_entries(&bytes);
    let mut longest = 0;
    for length in 0..bytes.len() {
        let (found, error) = read_entries(&bytes[..length]);
        assert!(found.len() < all.len() && found[..] == all[..found.len()] && found.len() >= longest);
        longest = found.len();
        assert!(error.is_some() || length >= 10, "{length}");
    }
    assert_eq!(longest, all.len() - 1);
    // A changed byte is detected, and no entry after it is read.
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let (found, error) = read_entries(&damaged);
        assert!(error.is_some() && found[..] == all[..found.len()], "byte {at}");
    }
}
