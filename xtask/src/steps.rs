//! The steps of `cargo xtask test` and of `cargo xtask ci`, in the order in which they run.

use crate::step::{Environment, Step, step};

/// Steps that show that the software works: all steps of `cargo xtask test`, and the last steps of
/// `cargo xtask ci`.
pub(crate) const TESTS: [Step; 6] = [
    step("build", "every test and example builds", &[], &["test {all} --no-run"]),
    step("tests", "unit, integration and documentation tests; ranks as threads", &[], &["{test}"]),
    // Emulates GPUs with memory that the host cannot map, and arrays larger than the binding limit.
    // Skips tests of rays, of memory and of long vectors, as their results would be the same.
    step(
        "no-host-map",
        "tests that open a world, again with host mapping off and chunks seen through windows of 64 KiB",
        &[("ZIPPY_HOST_MAP", "0"), ("ZIPPY_BINDING_LIMIT", "65536")],
        &[
            EXAMPLES,
            "{suites} -- --skip closed_form --skip fast_mode --skip features --skip leaps --skip other_modes --skip same_bits \
             --skip scans --skip solids:: --skip ten_million --skip trees:: --skip vtk --skip without_mapping",
        ],
    ),
    step(
        "no-driver",
        "tests of the library, again without any Vulkan driver; skips tests that draw or compute by a driver",
        WITHOUT_DRIVER,
        &["{test} --test world -- {not_by_driver}"],
    ),
    // Each test starts its own binary under the launcher.
    step(
        "mpi",
        "the suites under the launcher with 3 ranks; most of transport and random operations with 2 and 4, too",
        &[("ZIPPY_TEST_MPI", "1")],
        &[EXAMPLES, "{suites} --lib --test flow --test transport --test picture --test program -- under_mpi"],
    ),
    step("examples", "every example, with 1 and 4 thread ranks and 3 MPI ranks", &[], &[]),
];

const FORMAT: Step = step("format", "rustfmt finds nothing to change", &[], &["fmt --all --check"]);

/// Checks of the sources, the first steps of `cargo xtask ci`, quick ones first.
pub(crate) const CHECKS: [Step; 6] = [
    FORMAT,
    // The database of advisories needs a network, and changes without a change of the sources.
    Step {
        optional_tool: Some("deny"),
        ..step(
            "licences",
            "dependencies have permitted licences, sources and versions (needs cargo-deny)",
            &[],
            &["deny --workspace check bans licenses sources"],
        )
    },
    step(
        "lints",
        "clippy finds nothing, with all features and targets",
        &[],
        &["clippy {all} {aarch64} --all-targets --keep-going -- -D warnings"],
    ),
    step(
        "default-build",
        "the build of `cargo xtask demo`, and tests, without MPI and without features that only other packages need",
        &[],
        &[
            "check --package zippy-ga --package volume --package lbm --no-default-features --lib --bins --test=world --test=transport",
        ],
    ),
    step(
        "docs",
        "documentation builds without warnings",
        &[("RUSTDOCFLAGS", "-D warnings")],
        &["doc {all} {aarch64} --no-deps"],
    ),
    // Without the workspace, whose libraries would all be built again for the feature.
    step(
        "aarch64",
        "kernels become machine code for AArch64, on every processor",
        &[],
        &["test --locked --package zippy-native {aarch64} --test kernels aarch64"],
    ),
];

/// Steps of `test --quick`: the most informative checks that take a minute, for use between two
/// edits.
pub(crate) const QUICK: [Step; 2] = [
    FORMAT,
    step(
        "quick",
        "everything compiles; tests of plans, units and architecture pass",
        &[],
        &[
            "check {all} {aarch64} --all-targets",
            "test {features} --package zippy-plan --package zippy-ga --package zippy-files --package zippy-io --package zippy-primitives --package zippy-store --lib --test plans --test architecture",
        ],
    ),
];

/// The step of `test --drivers`. A test that passes on one driver only relies on unspecified
/// behaviour.
pub(crate) const DRIVERS: [Step; 1] = [step(
    "drivers",
    "tests with a device, on another implementation of Vulkan",
    &[],
    &[EXAMPLES, "{suites} --test device --test flow --test picture"],
)];

/// The step of `test --no-driver`.
pub(crate) const NO_DRIVER: [Step; 1] = [step(
    "no-driver",
    "tests with a device, without any Vulkan driver; skips tests that draw or compute by a driver",
    WITHOUT_DRIVER,
    &[
        EXAMPLES,
        "{suites} --lib --test alone --test device --test flow --test picture --test pictures --test program --test viewer \
         --test window -- {not_by_driver}",
    ],
)];

/// Names of the steps that `--no-mpi` skips, because they test MPI or the difference from builds
/// with MPI.
pub(crate) const STEPS_THAT_NEED_MPI: [&str; 2] = ["default-build", "mpi"];

/// Environment in which the Vulkan loader finds no driver.
const WITHOUT_DRIVER: Environment = &[("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

const EXAMPLES: &str = "build {all} --examples";
