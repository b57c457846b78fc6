use std::io::{Error, ErrorKind};
use std::path::Path;

/// Text for a failed operation on the file `path` with the operating system error `refused`: the
/// first missing folder of the path with the last folder that exists, otherwise the text of
/// `refused`.
///
/// ```
/// use std::path::Path;
///
/// let path = Path::new("no_such_folder/run/now.npy");
/// let refused = std::fs::File::create(path).unwrap_err();
/// assert_eq!(
///     zippy_base::error::describe_refusal(path, &refused),
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
        let description = |name: &str| describe_refusal(&at(name), &fs::File::open(at(name)).unwrap_err());
        let missing = |folder: &str, existing: &str| {
            let [folder, existing] = [folder, existing].map(|name| at(name).display().to_string());
            format!("the folder {folder} is missing, the last that exists is {existing}")
        };
        assert_eq!(description("out/run/7/now.npy"), missing("out/run/7", "out"));
        assert_eq!(description("file/now.npy"), format!("{} is a file and no folder", at("file").display()));
        assert_eq!(description("file/run/now.npy"), format!("{} is a file and no folder", at("file").display()));
        // The caller adds the name of the missing file.
        assert_eq!(description("out/now.npy"), fs::File::open(at("out/now.npy")).unwrap_err().to_string());
        let denied = Error::from(ErrorKind::PermissionDenied);
        assert_eq!(describe_refusal(&at("out/run/now.npy"), &denied), denied.to_string());
    }
}
