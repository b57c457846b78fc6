//! Generation of code for AArch64, on every processor: `--features aarch64`.

use naga::Module;
use naga::valid::ModuleInfo;
use zippy_native::{Vectorization, generate_for_target};

use crate::machine_code::run;
use crate::native::options;
use crate::random::{Extensions, count, first_seed, random_kernels_with};

fn generate(module: &Module, info: &ModuleInfo, entry: &str) -> Result<(), String> {
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let code = generate_for_target("aarch64-unknown-linux-gnu", module, info, entry, vectors);
        let code = code.map_err(|error| format!("{vectors:?}: {error}"))?;
        // Instructions have four bytes, and the last one of a function returns.
        let returns = |code: &Vec<u8>| code.chunks(4).any(|instruction| instruction == 0xd65f_03c0_u32.to_le_bytes());
        if code.is_empty() || !code.iter().all(|code| code.len() % 4 == 0 && returns(code)) {
            return Err(format!("{vectors:?}: the code is not of AArch64"));
        }
    }
    Ok(())
}

#[test]
fn random_kernels_have_code_for_aarch64() {
    let report = random_kernels_with(
        &options(),
        Extensions::ALL,
        count(40),
        first_seed(0),
        |module, info, entry, buffers, workgroups| {
            generate(module, info, entry)?;
            run(Vectorization::Use, module, info, entry, buffers, workgroups)
        },
    );
    assert!(report.failures.is_empty() && report.discarded.is_empty(), "{report}");
}
