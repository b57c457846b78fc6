//! Common mistakes of new users: each message names the mistake, the source line and the
//! correction.

mod call_sites;
mod checked;
mod compile;
mod messages;
