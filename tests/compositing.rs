//! Swap over global arrays: any number of pictures, ranks and radices, any depth order, against a blend in f64.

mod support;

use proptest::prelude::*;
use support::launcher;
use zippy::algorithms::compositing::{BINARY, swap};
use zippy::{Config, Layout, Ownership, Split, run_with};

under_mpi!();

/// A value that encodes picture, place and component; premultiplied, opacities from 0 to 1 with both ends present.
fn pixel(picture: usize, [x, y]: [i64; 2]) -> [f32; 4] {
    let mix = |n: usize| {
        ((picture * 7919 + x as usize * 104_729 + y as usize * 1_299_709 + n * 15_485_863) % 1009) as f32 / 1008.0
    };
    let alpha = match (picture + x as usize + y as usize) % 5 {
        0 => 0.0,
        1 if picture.is_multiple_of(3) => 1.0,
        _ => mix(3) * 0.6,
    };
    [mix(0) * alpha, mix(1) * alpha, mix(2) * alpha, alpha]
}

fn blended(order: &[usize], at: [i64; 2]) -> [f64; 4] {
    order.iter().fold([0.0; 4], |front: [f64; 4], &picture| {
        let back = pixel(picture, at);
        std::array::from_fn(|c| front[c] + (1.0 - front[3]) * f64::from(back[c]))
    })
}

fn check(ranks: usize, order: &[usize], extents: [i64; 2], radices: &[usize], owners: Option<Vec<usize>>) {
    for ranks in launcher::counts(&[ranks]) {
        let owners = owners.clone().map(|owners| owners.into_iter().map(|owner| owner % ranks).collect());
        check_on(ranks, order, extents, radices, owners);
    }
}

fn check_on(ranks: usize, order: &[usize], [width, height]: [i64; 2], radices: &[usize], owners: Option<Vec<usize>>) {
    let count = order.len();
    run_with(Config::threads(ranks), |world| {
        let layout = Layout::new([width, height, count as i64]).split([Split::Whole, Split::Whole, Split::Even(count)]);
        let pictures = match &owners {
            None => world.array::<[f32; 4], 3>("pictures", &layout)?,
            Some(owners) => world.array_owned("pictures", &layout, Ownership::table(owners.clone(), ranks)?)?,
        };
        pictures.fill_with(|[x, y, z]| pixel(z as usize, [x, y]))?;
        // The result is cut another way than the pictures.
        let cut = [Split::Whole, Split::Even(2), Split::Whole];
        let finished = world.array::<[f32; 4], 3>("finished", &Layout::new([width, height, 1]).split(cut))?;
        swap(world, &pictures, order, &finished, radices)?;
        let mut seen = [0_i64];
        for chunk in finished.chunks() {
            for (at, pixel) in chunk.region().points().map(|p| [p[0], p[1]]).zip(chunk.all().read()?) {
                seen[0] += 1;
                for (got, expected) in pixel.iter().zip(blended(order, at)) {
                    let error = (f64::from(*got) - expected).abs();
                    assert!(error < 1e-6, "{ranks} ranks, {count} pictures, {radices:?}, {at:?}: {error}");
                }
            }
        }
        world.group().all_reduce(&mut seen, |a, b| *a += b)?;
        assert_eq!(seen, [width * height]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn every_count_of_pictures_and_ranks() {
    for ranks in [1, 2, 3, 5, 8] {
        for count in [1, 2, 3, 5, 8] {
            let order: Vec<usize> = (0..count).map(|i| (i * 3 + 1) % count).collect();
            let order = if count.is_multiple_of(3) { (0..count).rev().collect() } else { order };
            check(ranks, &order, [7, 5], BINARY, None);
        }
    }
}

#[test]
fn more_pictures_than_rows() {
    check(2, &[4, 2, 0, 1, 3, 6, 5], [9, 2], BINARY, None);
    check(3, &[2, 0, 1, 3], [1, 1], BINARY, None);
}

#[test]
fn misfits_are_refused() {
    support::ranks(&[2], |world| {
        let layout = Layout::new([4, 4, 2]).split([Split::Whole, Split::Whole, Split::Even(2)]);
        let pictures = world.array::<[f32; 4], 3>("pictures", &layout)?;
        let finished = world.array::<[f32; 4], 3>("finished", &Layout::new([4, 4, 1]))?;
        assert!(swap(world, &pictures, &[0], &finished, BINARY).is_err());
        assert!(swap(world, &pictures, &[0, 0], &finished, BINARY).is_err());
        assert!(swap(world, &pictures, &[0, 1], &pictures, BINARY).is_err());
        assert!(swap(world, &pictures, &[0, 1], &finished, &[1]).is_err());
        assert!(swap(world, &pictures, &[0, 1], &finished, &[]).is_err());
        swap(world, &pictures, &[1, 0], &finished, BINARY)?;
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: support::seed(), ..ProptestConfig::default() })]

    #[test]
    fn any_owners_order_and_radices(
        order in (1_usize..10).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
        ranks in 1_usize..5,
        owners in prop::collection::vec(0_usize..5, 10),
        radices in prop::collection::vec(2_usize..6, 1..3),
        extents in prop::array::uniform2(1_i64..12),
    ) {
        check(ranks, &order, extents, &radices, Some(owners[..order.len()].to_vec()));
    }
}
