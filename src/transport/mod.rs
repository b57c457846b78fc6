//! transport (see DESIGN.md).
