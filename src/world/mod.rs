//! world (see DESIGN.md).
