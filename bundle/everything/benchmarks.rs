//! All benchmarks as tests of the same names. A test runs its benchmark only if the variable
//! `ZIPPY_BUNDLE_RUN` has the name.

#[path = "../../examples/doctor.rs"]
mod adapters;
#[path = "../../benches/limits.rs"]
mod limits;
#[path = "../../benches/primitives.rs"]
mod primitives;
#[path = "../../benches/primitives_kdtree.rs"]
mod primitives_kdtree;
#[path = "../../benches/ranks_checked.rs"]
mod ranks_checked;
#[path = "../../benches/ranks_compute.rs"]
mod ranks_compute;
#[path = "../../benches/ranks_files.rs"]
mod ranks_files;
#[path = "../../benches/ranks_ghosts.rs"]
mod ranks_ghosts;
#[path = "../../benches/ranks_isosurface.rs"]
mod ranks_isosurface;
#[path = "../../benches/ranks_lbm.rs"]
mod ranks_lbm;
#[path = "../../benches/ranks_memory.rs"]
mod ranks_memory;
#[path = "../../benches/ranks_primitives.rs"]
mod ranks_primitives;
#[path = "../../benches/ranks_programs.rs"]
mod ranks_programs;
#[path = "../../benches/ranks_start.rs"]
mod ranks_start;
#[path = "../../benches/ranks_step.rs"]
mod ranks_step;
#[path = "../../benches/ranks_transfers.rs"]
mod ranks_transfers;
#[path = "../../benches/ranks_view.rs"]
mod ranks_view;
#[path = "../../benches/ranks_volume.rs"]
mod ranks_volume;

macro_rules! by_name {
    ($($program:ident),+ $(,)?) => {
        /// Entry points of the benchmarks.
        mod run {$(
            #[test]
            fn $program() -> zippy::Result<()> {
                let selected = std::env::var("ZIPPY_BUNDLE_RUN");
                if selected.as_deref() == Ok(stringify!($program)) { super::$program::main() } else { Ok(()) }
            }
        )+}
    };
}

by_name!(
    adapters,
    limits,
    primitives,
    primitives_kdtree,
    ranks_checked,
    ranks_compute,
    ranks_files,
    ranks_ghosts,
    ranks_isosurface,
    ranks_lbm,
    ranks_memory,
    ranks_primitives,
    ranks_programs,
    ranks_start,
    ranks_step,
    ranks_transfers,
    ranks_view,
    ranks_volume,
);
