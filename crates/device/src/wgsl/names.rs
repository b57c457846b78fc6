//! Names that user texts cannot declare, because the code that Zippy adds uses them.

/// Prefix of all internal declarations that Zippy adds to a text.
pub const PREFIX: &str = "zippy_";

/// Explains why a text cannot declare `name` at module scope if Zippy adds code to the text; `None`
/// if it can. `words` are the predeclared WGSL names that the added code uses: a declaration would
/// shadow them and change the meaning of that code.
pub fn taken(name: &str, words: &[&str]) -> Option<String> {
    // The helpers of an array named `zippy` would begin with the prefix.
    if name.starts_with(PREFIX) || name == PREFIX.trim_end_matches('_') {
        return Some(format!("`{name}` cannot be declared: names that begin with {PREFIX} are reserved"));
    }
    words.contains(&name).then(|| {
        format!("`{name}` cannot be declared: what Zippy adds to this text needs its usual meaning; take another name")
    })
}

/// Explains why `name` is not a valid WGSL name, even for a member of a structure; `None` if it is
/// valid.
pub fn reserved(name: &str) -> Option<String> {
    let kept = naga::keywords::wgsl::RESERVED.contains(&name) || name.starts_with("__") || name == "_";
    kept.then(|| format!("`{name}` is a reserved word of WGSL"))
}
