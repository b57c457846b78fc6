//! Helpers for the location of a cell: inside the section, the storage or the owned cells, and its
//! index in the variable.

use super::writer::Writer;
use crate::kernel::geometry::Tuple;

impl Writer<'_, '_> {
    pub(super) fn write_address_helpers(&mut self) {
        let (x, axes) = (&self.var.name, self.axes);
        let ty = axes.ty();
        let tests = [
            ("inside", axes.within("$p", None, Tuple::SectionExtent, 0)),
            ("has", axes.within("$p", Some(Tuple::StorageLo), Tuple::StorageExtent, 0)),
            ("owned", axes.within("$p", Some(Tuple::OwnedLo), Tuple::OwnedExtent, 0)),
        ]
        .map(|(helper, test)| (helper, format!("fn {x}_{helper}($p: {ty}) -> bool {{ return {test}; }}")));
        let values = [("extent", Tuple::SectionExtent), ("shape", Tuple::ShapeLow)].map(|(helper, tuple)| {
            (helper, format!("fn {x}_{helper}() -> {ty} {{ return {}; }}", axes.geometry_where(tuple, &self.any())))
        });
        for (helper, text) in tests.into_iter().chain(values) {
            if self.uses_helper(helper) {
                self.line(&text);
            }
        }
    }
}
