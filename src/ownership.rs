//! ownership (see DESIGN.md).
