//! Kernels beside an interpreter of naga's representation.

mod cases;
mod compare;
mod interpreter;
mod random;

mod native;

#[test]
fn native_random() {
    let first: u64 = std::env::var("FIRST").map_or(0, |x| x.parse().unwrap());
    for vectors in [zippy_native::Vectors::Avoid, zippy_native::Vectors::Use] {
        if std::env::var_os("VEC").is_some() && vectors == zippy_native::Vectors::Avoid { continue; }
        let report = random::random_kernels(random::count(200), first, |module, info, entry, buffers, workgroups| {
            if std::env::var_os("VERB").is_some() { eprintln!("next"); }
            native::run(vectors, module, info, entry, buffers, workgroups)
        });
        assert!(report.failures.is_empty(), "{vectors:?}: {report}");
        println!("{vectors:?}: {report}");
    }
}

#[test]
fn zz_show() {
    let seed: u64 = std::env::var("FIRST").map_or(0, |x| x.parse().unwrap());
    let case = random::Case::generate(seed, random::Extensions { half: false, ..random::Extensions::ALL }).unwrap();
    println!("{}", case.text());
}
