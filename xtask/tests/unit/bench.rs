use super::*;

#[test]
fn file_name_keeps_letters_digits_and_single_dashes() {
    assert_eq!(file_name("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe-llvm-15-0-6-256-bits");
}

#[test]
fn name_of_results_has_adapter_date_part_and_backend() {
    let machine = |kernels: &str| json!({ "adapter": { "name": "llvmpipe (15)", "type": "Cpu", "kernels": kernels }, "date": "2026-11-25" });
    assert_eq!(results_name(&machine("native"), &[]), "llvmpipe-15-2026-11-25");
    assert_eq!(results_name(&machine("driver"), &["programs", "view"]), "llvmpipe-15-2026-11-25-programs-view-driver");
}

#[test]
fn rank_counts_follow_prefix_of_name_and_availability_of_mpi() {
    assert_eq!(rank_counts("plans", true), [Ranks::Default]);
    assert_eq!(rank_counts("ranks_ghosts", true).len(), 4);
    assert_eq!(rank_counts("ranks_ghosts", false), [Ranks::Threads(2), Ranks::Threads(4)]);
}

#[test]
fn rank_counts_of_named_benchmarks_differ_from_the_default() {
    let up_to_eight = [1, 2, 4, 8].map(Ranks::Threads);
    for name in ["ranks_primitives", "ranks_volume"] {
        assert_eq!(rank_counts(name, false), up_to_eight);
        assert_eq!(rank_counts(name, true).len(), 8);
    }
    assert_eq!(
        rank_counts("ranks_files", true),
        [1, 2, 4].map(Ranks::Threads).into_iter().chain([Ranks::Mpi(2)]).collect::<Vec<_>>()
    );
    assert_eq!(rank_counts("ranks_programs", true), [1, 2].map(Ranks::Threads));
    assert_eq!(rank_counts("primitives_kdtree", true), [Ranks::Default]);
    assert_eq!(rank_counts(third_party::ICET, true), [2, 4, 8].map(Ranks::Mpi));
}

#[test]
fn only_selects_benchmarks_by_part_of_name_and_refuses_unknown_names() {
    let context = Context::new().unwrap();
    assert!(super::benchmark_names(&context).contains(&"ranks_volume".to_string()));
    let known = || ["plans", "plans_of_peers", "ranks_volume"].map(String::from).to_vec();
    let parse = |words: &[&str]| {
        parse("bench", HELP, &words.iter().map(|word| word.to_string()).collect::<Vec<_>>()).unwrap().unwrap()
    };
    assert_eq!(selected_benchmarks(known(), &parse(&[])).unwrap(), known());
    assert_eq!(selected_benchmarks(known(), &parse(&["--only", "volume", "--peers"])).unwrap(), ["ranks_volume"]);
    assert_eq!(selected_benchmarks(known(), &parse(&["--only", "plans"])).unwrap(), ["plans", "plans_of_peers"]);
    assert_eq!(selected_benchmarks(known(), &parse(&["--only", "plan", "--only", "volume"])).unwrap(), known());
    assert!(
        selected_benchmarks(known(), &parse(&["--only", "planz"])).unwrap_err().to_string().contains("did you mean")
    );
}
