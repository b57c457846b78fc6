//! device (see DESIGN.md).
