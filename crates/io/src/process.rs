//! Processes: which one this is, and whether another one lives.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// The name of this host, for people.
pub fn host() -> String {
    let named = first_line("/proc/sys/kernel/hostname").filter(|name| !name.is_empty());
    let named = named.or_else(|| ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok()));
    named.unwrap_or_else(|| "an unknown host".into())
}

/// This machine since it was started, and its numbering of processes: where both are the same, a number is one process. Empty
/// where the system does not tell.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let numbering = fs::read_link("/proc/self/ns/pid").ok().map(|link| link.to_string_lossy().into_owned());
        let both = first_line("/proc/sys/kernel/random/boot_id").zip(numbering);
        both.map_or_else(String::new, |(boot, numbering)| format!("{boot} {numbering}"))
    })
}

/// Whether a process of this machine is known to be gone: nobody has its number.
pub fn is_gone(process: u32) -> bool {
    // What is mounted there may number processes otherwise, or hide those of others.
    let own = fs::read_link("/proc/self").ok();
    let is_ours = own.is_some_and(|link| link.as_os_str() == std::process::id().to_string().as_str());
    is_ours && !is_hiding() && !Path::new(&format!("/proc/{process}")).exists()
}

/// Whether not even the first process is seen, which there always is.
fn is_hiding() -> bool {
    !Path::new("/proc/1").exists()
}

fn first_line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}
