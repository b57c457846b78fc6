//! Files that cannot be written completely.

use std::process::Command;

use serde_json::json;

use crate::support::{answer, recording, shot};

/// A limit on the size of files is an error of the shot, as a full disk is, and not a signal that
/// ends the viewer.
#[cfg(unix)]
#[test]
fn shot_beyond_the_limit_on_the_size_of_files_is_an_error() {
    let (directory, _) = recording();
    let limited = |limit: &str| {
        let fields = json!({ "array": "flow", "step": 2, "slice": "x=-1", "output": "all.npy" });
        let shot = shot(directory.path(), "run.zrec", &fields);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -f {limit}; exec \"$@\""), "sh"]).arg(shot.get_program());
        command.current_dir(directory.path()).args(shot.get_args());
        command.env_remove("ZIPPY_DEBUG_TOKEN").output().unwrap()
    };
    let text = answer(limited("0"), "error");
    assert!(text.contains("all.npy") && text.contains("File too large"), "{text}");
    assert!(!directory.path().join("all.npy").exists());
    answer(limited("unlimited"), "shot");
    assert!(directory.path().join("all.npy").exists());
}
