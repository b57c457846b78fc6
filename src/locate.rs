//! locate (see DESIGN.md).
