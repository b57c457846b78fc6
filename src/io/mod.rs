//! io (see DESIGN.md).
