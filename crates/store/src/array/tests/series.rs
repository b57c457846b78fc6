//! Files of several times.

use zippy::{Config, run_with};

use super::super::TimeSeries;
use super::directory;
use zippy_io::array::time_steps;

#[test]
fn entries_are_in_the_order_of_time() {
    let directory = directory();
    let path = directory.path().join("a & b.pvd");
    let file = |name: &str| directory.path().join(name);
    std::fs::create_dir(file("sub")).unwrap();
    for name in ["0.vti", "1.vti", "sub/2 <x>.vti", "3.vti"] {
        std::fs::write(file(name), "").unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let far = elsewhere.path().join("far.vti");
    std::fs::write(&far, "").unwrap();
    run_with(Config::threads(3), |world| {
        let mut series = TimeSeries::open(world, &path)?;
        assert!(!path.exists());
        world.barrier()?;
        series.append(world, 0.5, file("1.vti"))?;
        series.keep_before(0.1);
        series.append(world, 0.1, file("1.vti"))?;
        series.append(world, 0.0, file("0.vti"))?;
        let error = series.append(world, f64::NAN, file("0.vti")).unwrap_err().to_string();
        assert!(error.contains("at the time NaN"), "{error}");
        let error = series.append(world, 2.0, file("none.vti")).unwrap_err().to_string();
        assert!(error.contains("cannot find"), "{error}");
        Ok(())
    })
    .unwrap();
    let expected = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\" \
                    header_type=\"UInt64\">\n  <Collection>\n    <DataSet timestep=\"0\" group=\"\" part=\"0\" \
                    file=\"0.vti\"/>\n    <DataSet timestep=\"0.1\" group=\"\" part=\"0\" file=\"1.vti\"/>\n  \
                    </Collection>\n</VTKFile>\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    // A restart with another number of ranks repeats a step.
    run_with(Config::threads(2), |world| {
        let mut series = TimeSeries::open(world, &path)?;
        series.append(world, 0.25, file("sub/2 <x>.vti"))?;
        series.append(world, 0.1, file("3.vti"))?;
        series.append(world, 1e30, &far)
    })
    .unwrap();
    let steps: Vec<_> = time_steps(&path).unwrap().into_iter().map(|step| (step.time, step.file)).collect();
    let far = far.canonicalize().unwrap();
    let wanted = [(0.0, file("0.vti")), (0.1, file("3.vti")), (0.25, file("sub/2 <x>.vti")), (1e30, far)];
    assert_eq!(steps, wanted);
}

#[test]
fn invalid_series_are_refused() {
    let directory = directory();
    let path = directory.path().join("a.pvd");
    for (text, wanted) in [
        ("x", "no VTKFile with a Collection"),
        ("<VTKFile type=\"ImageData\"/>", "Collection is read"),
        ("<VTKFile type=\"Collection\"><Collection>", "truncated"),
        ("<VTKFile type=\"Collection\"><Collection><DataSet/></Collection></VTKFile>", "no attribute file"),
        (
            "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"x\" file=\"a\"/></Collection></VTKFile>",
            "not a number",
        ),
        (
            "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"inf\" file=\"a\"/></Collection></VTKFile>",
            "must be finite",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        run_with(Config::threads(2), |world| {
            let error = TimeSeries::open(world, &path).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}, not {wanted}");
            let error = TimeSeries::open(world, path.with_extension("vti")).unwrap_err().to_string();
            assert!(error.contains("must end with .pvd"), "{error}");
            world.barrier()
        })
        .unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
