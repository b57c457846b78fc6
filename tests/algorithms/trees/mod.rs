//! k-d trees, their queries, and cuts balanced by points.

mod balance;
mod kdtree;
mod nearest;
