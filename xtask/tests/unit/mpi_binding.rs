use super::*;
use crate::machine::tests::FakeMachine;

#[test]
fn binding_is_stale_if_record_differs_or_is_missing() {
    let machine = FakeMachine::new("wrapper", "linux");
    let (target, record) = (machine.machine.at("/target"), machine.machine.at("/wrapper"));
    assert!(!is_stale(&target, &record, "-lmpi"), "nothing was built");
    std::fs::create_dir_all(target.join("release/build/mpi-sys-12ab")).unwrap();
    assert!(is_stale(&target, &record, "-lmpi"), "built without a record");
    std::fs::write(&record, "-lmpi").unwrap();
    assert!(!is_stale(&target, &record, "-lmpi") && is_stale(&target, &record, "-lmpich"));
}
