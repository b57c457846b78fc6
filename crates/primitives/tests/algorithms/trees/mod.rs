//! k-d trees, their queries, and boxes balanced by points.

mod balance;
mod kdtree;
mod nearest;
