//! Files of Debian's packages.

use super::*;

#[test]
fn files_are_found_by_the_start_of_their_names() {
    let home = std::env::temp_dir().join(format!("zippy-debian-{}", std::process::id()));
    let below = home.join("usr/lib");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("libvtkIceTCore-pv5.so.5"), "").unwrap();
    std::fs::write(home.join("other"), "").unwrap();
    assert_eq!(find(&home, "libvtkIceTCore-"), Ok(below.join("libvtkIceTCore-pv5.so.5")));
    assert!(find(&home, "IceT.h").is_err());
    assert!(find(&home.join("none"), "other").is_err());
    std::fs::remove_dir_all(&home).unwrap();
}
