//! kernel (see DESIGN.md).
