//! Which array is meant by a name.

/// Of some names the one that is meant: the same one, else the only one in which it stands as words; `None` where there is
/// none.
///
/// # Errors
/// All of those in which it stands as words, each once.
pub fn meant<'n>(names: impl Iterator<Item = &'n str> + Clone, name: &str) -> Result<Option<&'n str>, Vec<&'n str>> {
    if let Some(same) = names.clone().find(|other| *other == name) {
        return Ok(Some(same));
    }
    let padded = |name: &str| format!(" {name} ");
    let mut found: Vec<&str> = names.filter(|other| padded(other).contains(&padded(name))).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(found),
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn names_are_meant_by_words_of_theirs() {
        let all = ["flow velocity", "flow excess density", "flow velocity", "density two", "f"];
        let of = |name| meant(all.into_iter(), name);
        assert_eq!(of("f"), Ok(Some("f")), "a name itself comes first");
        assert_eq!(of("velocity"), Ok(Some("flow velocity")), "of several of one name it is that name");
        assert_eq!(of("excess density"), Ok(Some("flow excess density")));
        assert_eq!(of("density"), Err(vec!["density two", "flow excess density"]));
        assert_eq!([of("elocity"), of("")], [Ok(None), Ok(None)]);
    }
}
