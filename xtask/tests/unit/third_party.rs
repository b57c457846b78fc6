use super::*;

#[test]
fn find_returns_file_below_directory_by_prefix_of_its_name() {
    let home = std::env::temp_dir().join(format!("zippy-debian-{}", std::process::id()));
    let nested = home.join("usr/lib");
    std::fs::create_dir_all(&nested).unwrap();
    std::fs::write(nested.join("libvtkIceTCore-pv5.so.5"), "").unwrap();
    std::fs::write(home.join("other"), "").unwrap();
    assert_eq!(find_file_by_prefix(&home, "libvtkIceTCore-").unwrap(), nested.join("libvtkIceTCore-pv5.so.5"));
    assert!(find_file_by_prefix(&home, "IceT.h").is_err());
    assert!(find_file_by_prefix(&home.join("none"), "other").is_err());
    std::fs::remove_dir_all(&home).unwrap();
}
