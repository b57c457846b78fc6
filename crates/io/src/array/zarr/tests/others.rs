//! Stores that other programs have written.
