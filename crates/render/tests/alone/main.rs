//! Tests without a GPU: files of looks, plans of compositing, and the CPU ray caster against closed
//! forms.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../io/tests/common/mod.rs"]
mod files;

mod analytic;
mod devices;
mod foreign;
mod plan;
mod twin;
