//! Mistakes on the command line.

use super::pictures::run;

#[test]
fn numbers_sizes_and_cases_are_accepted_or_explained() {
    let directory = tempfile::tempdir().unwrap();
    let case = "
        steps = 1
        lattice.cells = [8, 8, 1]
        fluid.viscosity = 0.1
        reference = { length = 8, speed = 0.05 }
    ";
    std::fs::write(directory.path().join("box.toml"), case).unwrap();
    std::fs::write(
        directory.path().join("outlet.toml"),
        format!("{case}\n[sides.x]\nbelow = \"wall\"\nabove = \"outlet\"\n"),
    )
    .unwrap();
    std::fs::write(directory.path().join("two.toml"), format!("{case}\n[[bodies]]\nshape = {{ sphere = {{ centre = [4, 4, 0], radius = 2 }}, box = {{ from = [1, 1, 0], to = [2, 2, 1] }} }}\n")).unwrap();
    for options in [
        "box.toml",
        "cavity2d --n 8 --steps 1",
        "--case cavity3d --n 8 --steps 1 --cut 1,1,2 --ranks 2",
        "sphere --n 16X8X8 --steps 1 --render speed --slice z --size 64,48 --output a.png",
        "sphere --n 16×8×8 --steps 1",
        "cavity2d --n 8 --steps 1 --lattice D2Q9 --collision TRT",
    ] {
        run(directory.path(), options).unwrap_or_else(|error| panic!("{options}: {error}"));
    }
    for (options, wanted) in [
        ("--ranks 0 box.toml", "\"0\" is not an integer of at least 1"),
        ("--ranks -2 box.toml", "\"-2\" is not an integer of at least 1"),
        ("box.toml --every 0 --fields f", "\"0\" is not an integer of at least 1"),
        ("box.toml --line 0 --forces f.csv", "\"0\" is not an integer of at least 1"),
        ("sphere --n 16,8,8 --steps 1", "--n 16,8,8 are three runs; one run in a box of three extents is --n 16x8x8"),
        ("box.toml --case cavity2d", "cannot be used with"),
        ("car.stl", "--case object --solid car.stl"),
        ("cavity --n 8", "there are shear, taylor-green2d"),
        ("outlet.toml", "line 9, `above = \"outlet\"`: \"outlet\" needs a value: { outlet = 0.0 }"),
        ("two.toml", "a body has one shape, and here are two, box and sphere"),
        ("--steps 3", "--case"),
        ("box.toml --steps -5", "\"-5\" is not an integer of at least 0"),
        ("box.toml --steps 1e3", "\"1e3\" is not an integer of at least 0"),
        ("box.toml --budget -1", "\"-1\" is not an integer of at least 0"),
    ] {
        let error = run(directory.path(), options).unwrap_err();
        assert!(error.contains(wanted) && !error.contains("18446744073709551615"), "{options}: {error}");
    }
}

#[test]
fn output_folders_are_checked_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    std::fs::create_dir(directory.path().join("folder")).unwrap();
    // A case that fails later: its solid is missing.
    let case = "--ranks 3 --case object --solid missing.stl --n 16x8x8";
    for (options, wanted) in [
        ("--render speed --output a/b.png", "--output a/b.png: the folder a does not exist; make it first"),
        ("--render speed --output folder.png/x.apng", "the folder folder.png does not exist"),
        ("--render speed --output file/x.apng", "--output file/x.apng: file is not a folder"),
        ("--forces folder", "--forces folder: it is a folder; name a file in it"),
        ("--probes a/p.csv --probe 1,1,1", "--probes a/p.csv: the folder a does not exist"),
        ("--checkpoint file/ck", "--checkpoint file/ck: "),
        ("--fields file", "--fields file: "),
        ("--forces t.csv --probes ./t.csv --probe 1,1,1", "--forces writes this file, too"),
    ] {
        let error = run(directory.path(), &format!("{case} {options}")).unwrap_err();
        assert!(error.contains(wanted) && !error.contains("missing.stl"), "{options}: {error}");
    }
    let error =
        run(directory.path(), &format!("{case} --checkpoint new/ck --fields other/f --forces t.csv")).unwrap_err();
    assert!(error.contains("missing.stl"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}
