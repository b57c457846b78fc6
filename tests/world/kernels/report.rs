//! [`Report`]: errors collected in one text, for an exact comparison.

use std::fmt::{Debug, Write};

use zippy::{Error, World};

pub(crate) struct Report<'w> {
    world: &'w World,
    text: String,
}

impl<'w> Report<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Self { world, text: String::new() }
    }

    /// Adds the error of a result.
    ///
    /// # Panics
    /// The result is no error.
    pub(crate) fn fails<R: Debug, E: Into<Error> + Debug>(&mut self, label: &str, result: Result<R, E>) {
        let error: Error = result.expect_err(label).into();
        let text = error.kind().to_string().replace(&self.world.gpu().adapter().name, "ADAPTER");
        let _ = writeln!(self.text, "## {label}\n{text}\n");
    }

    /// Compares the report with the snapshot of this name. A bundle without sources or without
    /// Cargo compares nothing.
    pub(crate) fn compare(self, name: &str) {
        if [env!("CARGO"), env!("CARGO_MANIFEST_DIR")].iter().all(|path| std::path::Path::new(path).exists()) {
            insta::with_settings!({ prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(name, self.text);
            });
        }
    }
}
