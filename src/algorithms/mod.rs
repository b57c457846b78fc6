//! algorithms (see DESIGN.md).
