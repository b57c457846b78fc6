//! Kernels beside an interpreter of naga's representation.

mod compare;
mod interpreter;
mod random;

#[test]
fn smoke() {
    let text = "
    @group(0) @binding(0) var<storage, read_write> a: array<f32>;
    fn f(p: ptr<function, vec3<f32>>) -> f32 { (*p).y += 1.0; return (*p).x + (*p).y; }
    var<workgroup> w: array<f32, 4>;
    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {
        var v = vec3<f32>(1.0);
        w[l] = f(&v) + v.y;
        workgroupBarrier();
        var s = 0.0;
        for (var i = 0u; i < 4u; i++) { if (i == 2u) {continue;} s += w[i]; }
        a[id.x] += s;
    }";
    let mut buffers = interpreter::Buffers::new();
    buffers.insert((0, 0), vec![0; 22]);
    compare::compare(text, &buffers, [2, 1, 1], interpreter::run).unwrap();
    let (module, info) = compare::compile(text).unwrap();
    interpreter::run(&module, &info, "main", &mut buffers, [2, 1, 1]).unwrap();
    println!("{buffers:?}");
}

#[test]
fn show() {
    let first: u64 = std::env::var("FIRST").map_or(0, |x| x.parse().unwrap());
    let count: u64 = std::env::var("COUNT").map_or(3, |x| x.parse().unwrap());
    let (mut bad, mut failed) = (0, 0);
    for seed in first..first + count {
        match random::Case::generate(seed, random::Extensions::ALL) {
            Err(error) => {
                bad += 1;
                if bad < 12 {
                    println!("{seed}: {error}");
                }
            }
            Ok(case) => {
                if count < 5 {
                    println!("{case}");
                }
                let time = std::time::Instant::now();
                if let Err(error) = case.check_order() {
                    failed += 1;
                    if failed < 12 {
                        println!("{seed}: {error}");
                    }
                }
                let time = time.elapsed().as_millis();
                if time > 200 {
                    println!("{seed}: {time} ms");
                }
            }
        }
    }
    println!("{bad}, {failed} of {count}");
}

mod native;

#[test]
fn native_random() {
    let first: u64 = std::env::var("FIRST").map_or(0, |x| x.parse().unwrap());
    for vectors in [zippy_native::Vectors::Avoid, zippy_native::Vectors::Use] {
        let report = random::random_kernels(random::count(200), first, |module, info, entry, buffers, workgroups| {
            native::run(vectors, module, info, entry, buffers, workgroups)
        });
        assert!(report.failures.is_empty(), "{vectors:?}: {report}");
        println!("{vectors:?}: {report}");
    }
}
