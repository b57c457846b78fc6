//! Files without names, which the system removes after their last close. In contrast to the files
//! of `tempfile`, they can get a name later.

#[cfg(target_os = "linux")]
pub(super) use linux::{create, link, path_for_others};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    /// Creates an unnamed file; `None` if the file system supports neither the file nor a later
    /// name.
    pub(crate) fn create(directory: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE.bits() as i32;
        let file = fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(directory).ok()?;
        descriptor(&file).exists().then_some(file)
    }

    pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    pub(crate) fn path_for_others(file: &File) -> Option<PathBuf> {
        Some(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into())
    }

    fn descriptor(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
pub fn create(_: &std::path::Path) -> Option<std::fs::File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn path_for_others(_: &std::fs::File) -> Option<std::path::PathBuf> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn link(_: &std::fs::File, _: &std::path::Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
