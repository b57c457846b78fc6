//! Files of packages.

use super::*;

#[test]
fn files_are_found_by_the_start_of_their_names() {
    let home = std::env::temp_dir().join(format!("zippy-debian-{}", std::process::id()));
    let below = home.join("usr/lib");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("libvtkIceTCore-pv5.so.5"), "").unwrap();
    std::fs::write(home.join("other"), "").unwrap();
    assert_eq!(find(&home, "libvtkIceTCore-"), Some(below.join("libvtkIceTCore-pv5.so.5")));
    assert_eq!(find(&home, "IceT.h"), None);
    assert_eq!(find(&home.join("none"), "other"), None);
    std::fs::remove_dir_all(&home).unwrap();
}
