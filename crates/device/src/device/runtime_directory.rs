//! `XDG_RUNTIME_DIR`: the directory of the user's session, which graphics drivers use.

#[cfg(target_os = "linux")]
use std::{env, path::Path};

#[cfg(target_os = "linux")]
const NAME: &str = "XDG_RUNTIME_DIR";

/// Sets `XDG_RUNTIME_DIR` to `/run/user/UID`, or to a private directory below the directory for
/// temporary files, if the variable is missing.
///
/// Mesa's Vulkan layer for device selection opens a Wayland socket there at each enumeration of
/// adapters, and libwayland prints two lines if the variable is missing. Other threads could read
/// the environment at any time, so nothing is set in a process with several threads.
#[cfg(target_os = "linux")]
pub fn set_runtime_directory() {
    let is_set = env::var_os(NAME).is_some_and(|directory| Path::new(&directory).is_absolute());
    let is_single_threaded = || std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if is_set || !is_single_threaded() {
        return;
    }
    if let Some(directory) = private::directory() {
        // SAFETY: this is the only thread, so no other thread reads the environment.
        unsafe { env::set_var(NAME, directory) };
    }
}

/// Does nothing: drivers of other systems do not use the variable.
#[cfg(not(target_os = "linux"))]
pub fn set_runtime_directory() {}

#[cfg(target_os = "linux")]
mod private {
    use std::env;
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    use std::path::{Path, PathBuf};

    /// Returns a directory below the directory for temporary files that only this user can read and
    /// write.
    pub(super) fn directory() -> Option<PathBuf> {
        let user = fs::metadata("/proc/self").ok()?.uid();
        let session = PathBuf::from(format!("/run/user/{user}"));
        if is_private(&session, user) {
            return Some(session);
        }
        let own = env::temp_dir().join(format!("zippy-runtime-{user}"));
        // An earlier process can have created the directory.
        let _ = DirBuilder::new().mode(0o700).create(&own);
        (own.is_absolute() && is_private(&own, user)).then_some(own)
    }

    /// True if `directory` is a directory of `user`, not a link, and other users have no access.
    fn is_private(directory: &Path, user: u32) -> bool {
        fs::symlink_metadata(directory)
            .is_ok_and(|data| data.is_dir() && data.uid() == user && data.mode() & 0o777 == 0o700)
    }

    #[cfg(test)]
    mod tests {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        #[test]
        fn directory_readable_by_other_users_is_not_private() {
            let directory = tempfile::tempdir().unwrap();
            let user = fs::metadata("/proc/self").unwrap().uid();
            let own = directory.path().join("own");
            DirBuilder::new().mode(0o700).create(&own).unwrap();
            assert!(is_private(&own, user) && !is_private(&own, user + 1));
            let link = directory.path().join("link");
            symlink(&own, &link).unwrap();
            assert!(!is_private(&link, user) && !is_private(&directory.path().join("none"), user));
            fs::set_permissions(&own, Permissions::from_mode(0o750)).unwrap();
            assert!(!is_private(&own, user));
        }
    }
}
