//! [`describe_refusal`]: what the operating system said of a file.

use std::io::{Error, ErrorKind};
use std::path::Path;

/// The reason why the operating system refused a file: where a folder on the way to it is missing, that folder and the last
/// one that exists.
///
/// ```
/// use std::path::Path;
///
/// let path = Path::new("no_such_folder/run/now.npy");
/// let refused = std::fs::File::create(path).unwrap_err();
/// assert_eq!(
///     zippy::error::describe_refusal(path, &refused),
///     "the folder no_such_folder/run is missing, the last that exists is the working directory"
/// );
/// ```
pub fn describe_refusal(path: &Path, refused: &Error) -> String {
    let is_about_folders = matches!(refused.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let folder = path.parent().filter(|folder| is_about_folders && !folder.as_os_str().is_empty());
    let Some(folder) = folder.filter(|folder| !folder.is_dir()) else { return refused.to_string() };
    let existing = folder.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
    match existing.filter(|existing| !existing.as_os_str().is_empty()) {
        Some(existing) if !existing.is_dir() => format!("{} is a file and no folder", existing.display()),
        Some(existing) => {
            format!("the folder {} is missing, the last that exists is {}", folder.display(), existing.display())
        }
        None => format!("the folder {} is missing, the last that exists is the working directory", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_folder_is_named_with_the_last_that_exists() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("out")).unwrap();
        fs::write(at("file"), "").unwrap();
        let of = |name: &str| describe_refusal(&at(name), &fs::File::open(at(name)).unwrap_err());
        let missing = |folder: &str, existing: &str| {
            let [folder, existing] = [folder, existing].map(|name| at(name).display().to_string());
            format!("the folder {folder} is missing, the last that exists is {existing}")
        };
        assert_eq!(of("out/run/7/now.npy"), missing("out/run/7", "out"));
        assert_eq!(of("file/now.npy"), format!("{} is a file and no folder", at("file").display()));
        assert_eq!(of("file/run/now.npy"), format!("{} is a file and no folder", at("file").display()));
        // The file itself is missing, and its name stands next to this.
        assert_eq!(of("out/now.npy"), fs::File::open(at("out/now.npy")).unwrap_err().to_string());
        let denied = Error::from(ErrorKind::PermissionDenied);
        assert_eq!(describe_refusal(&at("out/run/now.npy"), &denied), denied.to_string());
    }
}
