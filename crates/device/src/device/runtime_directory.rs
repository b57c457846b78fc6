//! The directory of the user's session, which drivers look for.

#[cfg(target_os = "linux")]
use std::{env, path::Path};

#[cfg(target_os = "linux")]
const NAME: &str = "XDG_RUNTIME_DIR";

/// Sets `XDG_RUNTIME_DIR` where it is missing and this is the only thread of the process, as other
/// threads may read the environment at any time. Mesa's Vulkan layer that orders devices looks for
/// a Wayland socket there whenever adapters are listed, and libwayland prints two lines where the
/// variable is missing.
///
/// The value is `/run/user/UID`, or a directory of the user's own below the one for temporary
/// files.
#[cfg(target_os = "linux")]
pub fn set_runtime_directory() {
    let is_set = env::var_os(NAME).is_some_and(|directory| Path::new(&directory).is_absolute());
    let is_alone = || std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if is_set || !is_alone() {
        return;
    }
    if let Some(directory) = private::directory() {
        // SAFETY: this is the only thread, so that none reads the environment meanwhile.
        unsafe { env::set_var(NAME, directory) };
    }
}

/// Elsewhere nobody looks for it.
#[cfg(not(target_os = "linux"))]
pub fn set_runtime_directory() {}

#[cfg(target_os = "linux")]
mod private {
    use std::env;
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    use std::path::{Path, PathBuf};

    /// A directory that this user alone can read and write.
    pub(super) fn directory() -> Option<PathBuf> {
        let user = fs::metadata("/proc/self").ok()?.uid();
        let of_session = PathBuf::from(format!("/run/user/{user}"));
        if is_private(&of_session, user) {
            return Some(of_session);
        }
        let own = env::temp_dir().join(format!("zippy-runtime-{user}"));
        // It may be there from a run before.
        let _ = DirBuilder::new().mode(0o700).create(&own);
        (own.is_absolute() && is_private(&own, user)).then_some(own)
    }

    /// Whether it is a directory, and no link to one, that others have no rights to.
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
        fn directories_that_others_can_read_are_not_private() {
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
