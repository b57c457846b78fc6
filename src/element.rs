//! element (see DESIGN.md).
