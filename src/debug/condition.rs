//! Conditions.
use crate::World;
use crate::error::Result;
use std::fmt;
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition;
impl Condition {
    pub fn parse(_: &str) -> Result<Self, String> {
        Ok(Self)
    }
    pub fn holds(&self, _: &World) -> Result<Result<bool, String>> {
        Ok(Ok(false))
    }
}
impl fmt::Display for Condition {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
