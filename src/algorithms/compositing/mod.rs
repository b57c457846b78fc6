//! Partial pictures into one: binary swap over global-array operations (the paper's section 5.1).

mod schedule;

pub use schedule::{Piece, Round, Step, SwapSchedule};
