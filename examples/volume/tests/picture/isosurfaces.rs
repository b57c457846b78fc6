//! Pictures of isosurfaces have the same bits for every cut, with device and host extraction.

use super::{render_uncut, run};

fn assert_cuts_keep_bits() {
    let common = ["--phantom-size", "31x40x36", "--size", "60x50", "--brick", "8", "--iso", "1500"];
    let without = render_uncut(&common[..6]);
    let pictures: [(&[&str], usize, &[&str]); 2] = [
        (&[], 3, &["--split", "1+29+1x2x1"]),
        (&["--iso-opacity", "0.4"], 2, &["--cut", "bars", "--chunks-per-rank", "4"]),
    ];
    for (look, ranks, cut) in pictures {
        let words = [&common[..], look].concat();
        let expected = render_uncut(&words);
        assert!(expected.difference(&without).unwrap().max_abs > 0.1, "no surface is seen");
        let Some(rendered) = run(ranks, &[&words[..], cut].concat()) else { continue };
        assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0, "{ranks} ranks, {look:?}, {cut:?}");
    }
}

#[test]
fn isosurfaces_drawn_by_driver_do_not_depend_on_cuts() {
    assert_cuts_keep_bits();
}

zippy_testing::with_variables! {
    by_driver, [("ZIPPY_HOST_MAP", "0")], assert_cuts_keep_bits
}
