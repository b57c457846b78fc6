//! oracle (see DESIGN.md).
