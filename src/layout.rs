//! layout (see DESIGN.md).
