//! Kernels run by executors and by an interpreter of naga's representation, and compared.
//!
//! * [`interpreter`]: the oracle. It depends on naga alone.
//! * [`compare`]: a kernel by the interpreter and by an executor, bit by bit.
//! * [`random`]: random kernels without data races, and the reduction of those that fail.
//! * [`edges`]: each operator and built-in function over numbers at the edges of its types.
//! * [`guarded`]: memory that traps past its end.
//! * [`rows`]: kernels with tests of positions, with bounds at the edges of rows.
//! * [`bytes`]: bytes of words in several orders.
//! * [`stopped`]: runs that are stopped.
//! * [`cases`]: tests of all of these.

mod bytes;
mod cases;
mod compare;
mod edges;
mod guarded;
mod interpreter;
mod native;
mod random;
mod rows;
mod stopped;
