//! The text, to say where in it something is wrong.

use toml::Spanned;

use crate::error::FlowError;

/// What all parts need to tell what is wrong.
pub struct Text<'t>(pub &'t str);

impl Text<'_> {
    pub fn line(&self, byte: usize) -> usize {
        1 + self.0.bytes().take(byte).filter(|&byte| byte == b'\n').count()
    }

    pub fn wrong<T>(&self, table: &Spanned<T>, key: &str, wrong: impl Into<String>) -> FlowError {
        FlowError::Described { line: self.line(table.span().start), key: key.to_owned(), wrong: wrong.into() }
    }

    /// # Errors
    /// It is not a finite number above 0.
    pub fn positive<T>(&self, table: &Spanned<T>, key: &str, value: f64) -> Result<(), FlowError> {
        match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(self.wrong(table, key, format!("it is {value}; it must be a finite number above 0"))),
        }
    }

    /// # Errors
    /// They are not finite.
    pub fn finite<T>(&self, table: &Spanned<T>, key: &str, values: &[f64]) -> Result<(), FlowError> {
        match values.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(value) => Err(self.wrong(table, key, format!("{value} in it is no finite number"))),
        }
    }
}
