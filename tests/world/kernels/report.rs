//! Errors collected in one text, to be compared word for word.

use std::fmt::{Debug, Write};

use zippy::{Error, World};

pub struct Report<'w> {
    world: &'w World,
    text: String,
}

impl<'w> Report<'w> {
    pub fn new(world: &'w World) -> Self {
        Self { world, text: String::new() }
    }

    /// Adds the error of what must fail.
    pub fn fails<R: Debug, E: Into<Error> + Debug>(&mut self, what: &str, result: Result<R, E>) {
        let error: Error = result.expect_err(what).into();
        let text = error.kind().to_string().replace(&self.world.gpu().adapter().name, "ADAPTER");
        let _ = writeln!(self.text, "## {what}\n{text}\n");
    }

    /// Compares the report with the accepted text, a file among the sources. A bundle on a machine
    /// without the sources or without Cargo compares nothing.
    pub fn compare(self, name: &str) {
        if [env!("CARGO"), env!("CARGO_MANIFEST_DIR")].iter().all(|path| std::path::Path::new(path).exists()) {
            insta::with_settings!({ prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(name, self.text);
            });
        }
    }
}
