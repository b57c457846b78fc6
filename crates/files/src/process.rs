//! Identity of this process, and a check for ended processes.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Name of this host, for messages.
pub fn host() -> String {
    let named = first_line("/proc/sys/kernel/hostname").filter(|name| !name.is_empty());
    let named = named.or_else(|| ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok()));
    named.unwrap_or_else(|| "an unknown host".into())
}

/// Identity of this machine since its start, with its process numbering: a process id is unique for
/// equal values. Empty if the system does not provide it.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let numbering = fs::read_link("/proc/self/ns/pid").ok().map(|link| link.to_string_lossy().into_owned());
        let both = first_line("/proc/sys/kernel/random/boot_id").zip(numbering);
        both.map_or_else(String::new, |(boot, numbering)| format!("{boot} {numbering}"))
    })
}

/// True if a process of this machine has ended.
pub fn is_gone(process: u32) -> bool {
    // /proc can belong to another pid namespace or hide the processes of other users.
    let self_link = fs::read_link("/proc/self").ok();
    let is_ours = self_link.is_some_and(|link| link.as_os_str() == std::process::id().to_string().as_str());
    is_ours && !is_hiding() && !Path::new(&format!("/proc/{process}")).exists()
}

/// True if /proc hides process 1, which always exists.
fn is_hiding() -> bool {
    !Path::new("/proc/1").exists()
}

fn first_line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}
