//! Positions of fields in files: those of solids, without the layers around the box.

use zippy::Grid;
use zippy_io::volume;

use super::pictures::run;

#[test]
fn saved_fields_begin_at_the_first_cell_of_the_box() {
    let directory = tempfile::tempdir().unwrap();
    for ranks in [1, 3] {
        let flow = "--case sphere --n 24x12x14 --steps 4 --every 4";
        run(directory.path(), &format!("--ranks {ranks} {flow} --fields saved")).unwrap();
        let path = directory.path().join("saved/speed-000000004.vti");
        let file = volume::open(&path).unwrap();
        assert_eq!((file.grid(), &file.shape()[..]), (Grid::default(), &[24, 12, 14][..]));
        let head = String::from_utf8_lossy(&std::fs::read(path).unwrap()[..600]).into_owned();
        assert!(head.contains(r#"Origin="0 0 0" Spacing="1 1 1""#), "{head}");
        std::fs::remove_dir_all(directory.path().join("saved")).unwrap();
    }
}
