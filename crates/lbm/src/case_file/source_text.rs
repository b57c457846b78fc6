//! The text of a case file, for the lines of errors.

use toml::Spanned;

use crate::error::FlowError;

/// Text of a case file, for the lines of errors.
pub(super) struct SourceText<'t>(pub &'t str);

impl SourceText<'_> {
    /// Line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        1 + self.0.bytes().take(byte).filter(|&byte| byte == b'\n').count()
    }

    pub(super) fn error<T>(&self, table: &Spanned<T>, key: &str, message: impl Into<String>) -> FlowError {
        FlowError::CaseFile { line: self.line(table.span().start), key: key.to_owned(), message: message.into() }
    }

    pub(super) fn check_positive<T>(&self, table: &Spanned<T>, key: &str, value: f64) -> Result<(), FlowError> {
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(self.error(table, key, format!("it is {value}; it must be a finite number above 0")))
    }

    pub(super) fn check_finite<T>(&self, table: &Spanned<T>, key: &str, values: &[f64]) -> Result<(), FlowError> {
        match values.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(value) => Err(self.error(table, key, format!("{value} in it is not a finite number"))),
        }
    }
}
