//! Saves that fail: the same error on every rank, and earlier generations stay.

use std::fs;
use std::path::Path;

use serde::Serialize;
use zippy::error::ErrorKind;
use zippy::{Config, Element, Layout, Result, Split, World, run_with};

use super::{Checkpoints, Contents, directory, is_step, names, save_step};

fn all_fail(world: &World, wanted: &str, result: Result<()>) {
    let Err(error) = result else { panic!("no error: {wanted}") };
    let text = match error.kind() {
        ErrorKind::Remote { message, .. } => message.clone(),
        kind => kind.to_string(),
    };
    assert!(text.contains(wanted), "rank {}: {text}, not {wanted}", world.rank());
}

#[test]
fn operating_system_errors_are_the_same_on_every_rank() {
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, "before").unwrap();
    run_with(Config::threads(3), |world| {
        for path in [file.clone(), file.join("run.ckpt")] {
            let checkpoints = Checkpoints::new(&path, 1);
            all_fail(world, "cannot write to the directory", save_step(&checkpoints, world, 1));
            all_fail(world, "cannot list the directory", checkpoints.latest(world).map(drop));
            all_fail(world, "cannot list the directory", checkpoints.steps().map(drop));
        }
        let array = world.array::<f32, 1>("array", &Layout::new([9]))?;
        let started = Checkpoints::new(&file, 1).start(world, 1, &Contents::new().array(&array));
        all_fail(world, "cannot write to the directory", started.map(drop));
        drop(array);
        save_step(&Checkpoints::new(directory.path().join("good"), 1), world, 1)
    })
    .unwrap();
    assert_eq!(
        (fs::read(&file).unwrap(), names(directory.path())),
        (b"before".to_vec(), vec!["file".into(), "good".into()])
    );
}

/// True if a directory without write permission refuses writes; it does not for root.
#[cfg(unix)]
fn closed(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).unwrap();
    fs::write(directory.join("probe"), "").and_then(|()| fs::remove_file(directory.join("probe"))).is_err()
}

#[cfg(unix)]
#[test]
fn missing_permission_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 1)).unwrap();
    if closed(directory.path()) {
        run_with(Config::threads(2), |world| {
            all_fail(world, "ermission denied", save_step(&checkpoints, world, 2));
            is_step(&checkpoints.latest(world)?.unwrap(), world, 1)
        })
        .unwrap();
    }
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(checkpoints.steps().unwrap(), [1]);
}

#[test]
fn invalid_contents_are_errors() {
    #[derive(Serialize)]
    struct Named {
        rank: usize,
    }
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(3).check(false), |world| {
        let layout = Layout::new([9]).split_all(Split::Auto);
        let (a, b) = (world.array::<f32, 1>("a", &layout)?, world.array::<f32, 1>("b", &layout)?);
        let mut twin = world.growable::<u8>("a")?;
        twin.append(&[1, 2])?;
        let save = |contents: Contents<'_>| checkpoints.save(world, 5, &contents);
        all_fail(
            world,
            "two arrays of the checkpoint are called \"a\"",
            save(Contents::new().array(&a).growable(&twin)),
        );
        all_fail(world, "was given two", save(Contents::new().state(&1).array(&a).state(&2)));
        all_fail(world, "may have 65536; arrays are for more", save(Contents::new().state(&vec![0_u8; 1 << 17])));
        let state = Named { rank: world.rank() / 2 };
        all_fail(world, "ranks 0 and 2 save different states", save(Contents::new().array(&a).state(&state)));
        let none = if world.rank() == 0 { Contents::new() } else { Contents::new().state(&0) };
        all_fail(world, "ranks 0 and 1 save different states", save(none));
        let other =
            if world.rank() == 1 { Contents::new().array(&b).array(&a) } else { Contents::new().array(&a).array(&b) };
        all_fail(world, "ranks 0 and 1 save different arrays", save(other));
        let zero = Checkpoints::new(directory.path(), 0).save(world, 5, &Contents::new().array(&a));
        all_fail(world, "keeps at least 1 generation", zero);
        save(Contents::new())?;
        let checkpoint = checkpoints.latest(world)?.unwrap();
        assert_eq!(
            (checkpoint.step(), checkpoint.array_names().count(), checkpoint.growable_names().count()),
            (5, 0, 0)
        );
        all_fail(world, "was saved without a state", checkpoint.state::<u8>().map(drop));
        all_fail(world, "has no array called \"a\"; it has none", checkpoint.fill(world, &a));
        Ok(())
    })
    .unwrap();
}

/// The error occurs before a cell is written.
#[test]
fn manifest_that_would_be_too_long_is_an_error() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path().join("a/b"), 1);
    run_with(Config::threads(3), |world| {
        let list = world.growable::<u8>(&"x".repeat(3 << 20))?;
        let saved = checkpoints.save(world, 1, &Contents::new().growable(&list));
        all_fail(world, "a/b: the manifest would have about 31", saved);
        let saved = checkpoints.start(world, 1, &Contents::new().growable(&list)).map(drop);
        all_fail(world, "it may have 2097152: cut the arrays into fewer chunks", saved);
        Ok(())
    })
    .unwrap();
    assert_eq!(names(checkpoints.directory()), [""; 0]);
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Particle {
    velocity: [f32; 2],
    id: u32,
    rank: u32,
}

mod other {
    use zippy::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    pub(super) struct Particle {
        pub speed: [f32; 2],
        pub id: u32,
        pub rank: u32,
    }

    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    pub(super) struct Renamed {
        pub velocity: [f32; 2],
        pub id: u32,
        pub rank: u32,
    }
}

#[test]
fn arrays_that_do_not_fit_the_saved_ones_are_errors() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(2), |world| {
        let plane = world.array::<f32, 2>("plane", &Layout::new([5, 4]))?;
        let mut list = world.growable::<Particle>("list")?;
        list.append(&[Particle { velocity: [1.0, 2.0], id: 3, rank: 0 }])?;
        checkpoints.save(world, 1, &Contents::new().array(&plane).growable(&list))?;
        let checkpoint = checkpoints.latest(world)?.unwrap();
        assert_eq!(checkpoint.array_names().chain(checkpoint.growable_names()).collect::<Vec<_>>(), ["plane", "list"]);
        let fail = |wanted: &str, result: Result<()>| all_fail(world, wanted, result);
        let array = checkpoint.array::<f32, 2>(world, "plan", Layout::new);
        fail("has no array called \"plan\"; it has \"plane\" (f32, 5 x 4)", array.map(drop));
        let array = checkpoint.array::<i32, 2>(world, "plane", Layout::new);
        fail("\"plane\" has cells of \"f32\", and cells of i32 are wanted", array.map(drop));
        let array = checkpoint.array::<f32, 3>(world, "plane", Layout::new);
        fail("\"plane\" has 2 axes, and 3 are wanted", array.map(drop));
        let array = checkpoint.array::<f32, 2>(world, "plane", |_| Layout::new([4, 5]));
        fail("\"plane\" has 5 x 4 cells, and 4 x 5 are wanted", array.map(drop));
        fail("has no growable array called \"plane\"", checkpoint.growable::<f32>(world, "plane").map(drop));
        let list = checkpoint.growable::<other::Particle>(world, "list");
        let wanted =
            "\"Particle { velocity: vec2<f32>, id: u32, rank: u32 }\", and cells of Particle { speed: vec2<f32>, id: u32, rank: u32 }";
        fail(wanted, list.map(drop));
        let renamed = checkpoint.growable::<other::Renamed>(world, "list")?;
        assert_eq!(renamed.all().read()?[0].id, 3);
        fail("\"plane\" is alive", checkpoint.array::<f32, 2>(world, "plane", Layout::new).map(drop));
        Ok(())
    })
    .unwrap();
}
