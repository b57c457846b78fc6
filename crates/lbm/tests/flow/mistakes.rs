//! What cannot be: the same error on every rank.

use zippy::{Config, run_with};
use zippy_lbm::{Collision, Cut, Flow, Problem, Side, VelocitySet};

use super::support::launcher;

fn error(problem: impl Fn() -> Problem + Sync, cut: Cut) -> String {
    let errors = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let error = Flow::new(world, &problem(), &cut).err().expect("a mistake");
        world.barrier()?;
        Ok(error.to_string())
    });
    let errors = errors.unwrap();
    assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn are_the_same_error_everywhere() {
    let cube = || Problem::new(VelocitySet::D3Q19, [4, 5, 6]);
    let checks: [(String, &str); 10] = [
        (error(|| Problem::new(VelocitySet::D3Q19, [4, 0, 6]), Cut::Auto), "[4, 0, 6]"),
        (error(|| Problem::new(VelocitySet::D2Q9, [4, 4, 2]), Cut::Auto), "1 in two dimensions"),
        (error(|| cube().sides(1, Side::Wall, Side::Periodic), Cut::Auto), "axis 1: only one side is periodic"),
        (error(|| cube().viscosity(0.0), Cut::Auto), "the viscosity is 0"),
        (error(|| cube().collision(Collision::Cumulant), Cut::Auto), "cumulants are those of D3Q27, not of D3Q19"),
        (error(|| cube().force([0.0, f64::NAN, 0.0]), Cut::Auto), "the force is NaN"),
        (
            error(
                || cube().sides(0, Side::Pressure(1.0), Side::Wall).sides(2, Side::Wall, Side::Outlet(1.0)),
                Cut::Auto,
            ),
            "axes 0 and 2 are both open",
        ),
        (error(cube, Cut::Sizes([vec![4], vec![2, 2], vec![6]])), "axis 1 into [2, 2]: the parts must add up to 5"),
        (error(cube, Cut::Parts([1, 1, 7])), "7 parts of 6 cells"),
        (
            error(|| Problem::new(VelocitySet::D3Q27, [1 << 20; 3]), Cut::Parts([1; 3])),
            "cut the lattice into more parts",
        ),
    ];
    for (found, wanted) in checks {
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}
