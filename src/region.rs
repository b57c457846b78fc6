//! region (see DESIGN.md).
