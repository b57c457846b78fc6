//! plan (see DESIGN.md).
