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
    let count: u64 = std::env::var("COUNT").map_or(3, |x| x.parse().unwrap());
    let mut bad = 0;
    for seed in 0..count {
        let text = random::show(seed);
        if let Err(error) = compare::compile(&text) {
            bad += 1;
            if bad < 12 {
                println!("{seed}: {error}");
            }
        }
        if count < 5 {
            println!("{text}");
        }
    }
    println!("{bad} of {count}");
}
