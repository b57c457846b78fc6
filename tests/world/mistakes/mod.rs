//! Mistakes that a first week brings: each message says what was wrong, where, and what would be right.

mod call_sites;
mod checked;
mod compile;
mod messages;
