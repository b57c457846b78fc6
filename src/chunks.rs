//! chunks (see DESIGN.md).
