//! array (see DESIGN.md).
