//! Lookup of arrays by name.

/// Full name of an array: `name` itself, or else the only name that contains `name` as whole words;
/// `None` if no name does.
///
/// # Errors
/// All names that contain `name` as whole words, sorted and without duplicates, if there are
/// several.
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
    fn name_is_found_by_its_words() {
        let all = ["flow velocity", "flow excess density", "flow velocity", "density two", "f"];
        let find = |name| meant(all.into_iter(), name);
        assert_eq!(find("f"), Ok(Some("f")), "a name itself comes first");
        assert_eq!(find("velocity"), Ok(Some("flow velocity")), "equal names count once");
        assert_eq!(find("excess density"), Ok(Some("flow excess density")));
        assert_eq!(find("density"), Err(vec!["density two", "flow excess density"]));
        assert_eq!([find("elocity"), find("")], [Ok(None), Ok(None)]);
    }
}
