//! Names that what Zippy adds to a text of the user's could not do without.

/// What everything begins with that Zippy adds and nobody else is to call.
pub const PREFIX: &str = "zippy_";

/// Why a text that Zippy adds something to cannot declare `name` for the whole module; `words` are those of WGSL's own
/// that the added part uses. WGSL lets declarations hide them, which would change what the added part means.
pub fn taken(name: &str, words: &[&str]) -> Option<String> {
    // An array called by the prefix alone would have helpers that begin with it.
    if name.starts_with(PREFIX) || name == PREFIX.trim_end_matches('_') {
        return Some(format!("`{name}` cannot be declared: names that begin with {PREFIX} are Zippy's own"));
    }
    words.contains(&name).then(|| {
        format!("`{name}` cannot be declared: what Zippy adds to this text needs its usual meaning; take another name")
    })
}

/// Why WGSL has nothing of this name, not even a member of a structure.
pub fn reserved(name: &str) -> Option<String> {
    let kept = naga::keywords::wgsl::RESERVED.contains(&name) || name.starts_with("__") || name == "_";
    kept.then(|| format!("`{name}` is a word that WGSL keeps for itself"))
}
