//! List of arrays with their writers, and observers of debug points.

use std::cell::RefCell;
use std::rc::Rc;

use zippy::array::ArrayKind;
use zippy::{Layout, Split};

use crate::support::{RANKS, ranks};

#[test]
fn array_list_has_last_writers() {
    ranks(RANKS, |world| {
        let layout =
            Layout::new([world.size() as i64, 3]).split([Split::Even(world.size()), Split::Whole]).ghost([1, 0]);
        let [a, b] = ["a", "b"].map(|name| world.array::<u32, 2>(name, &layout));
        let (a, b) = (a?, b?);
        let mut list = world.growable::<[f32; 2]>("list")?;
        let scratch = world.local_array::<u8, 1>("scratch", &Layout::new([10]))?;
        let find =
            |name: &str| world.debug().arrays().into_iter().find(|array| array.name == name).expect("it is alive");
        assert!(find("a").chunks.iter().all(|chunk| (chunk.writes, chunk.last_writer.is_none()) == (0, true)));
        a.fill(1)?;
        let here = line!() + 1;
        world.copy(a.at(..), b.at(..))?;
        world.ghosts(&b)?;
        list.append(&[[1.0; 2]; 4])?;
        // The list moves to a larger buffer.
        list.append(&[[1.0; 2]; 1])?;
        scratch.at(2..4).write(&[1, 2])?;
        let b = find("b");
        assert_eq!((b.kind, b.element, b.chunk_count), (ArrayKind::Global, "u32", world.size()));
        for chunk in &b.chunks {
            let writer = chunk.last_writer.as_ref().expect("it was copied to");
            assert_eq!((chunk.writes, writer.call_site().line()), (1, here), "{writer}");
            assert!(writer.operation().starts_with("copy(") && writer.kernel().is_none(), "{writer}");
            assert!(chunk.bytes >= 36);
        }
        let list = find("list");
        assert_eq!((list.kind, list.shape[0], list.chunks[0].writes), (ArrayKind::Growable, 5, 2));
        assert_eq!((find("scratch").kind, find("scratch").chunks[0].writes), (ArrayKind::Local, 1));
        assert!(find("list").to_string().starts_with("growable \"list\": "), "{}", find("list"));
        drop(scratch);
        assert!(!world.debug().arrays().iter().any(|array| array.name == "scratch"));
        Ok(())
    });
}

#[test]
fn observer_is_called_at_debug_points() {
    ranks(&[1, 3], |world| {
        let array = world.array::<f32, 1>("array", &Layout::new([6]).split([Split::Even(world.size())]))?;
        let observed = Rc::new(RefCell::new(Vec::new()));
        world.debug_point("nobody looks")?;
        array.fill(1.0)?;
        let list = observed.clone();
        world.debug().observe(move |world, point| {
            let written = world.debug().arrays()[0].chunks[0].last_writer.as_ref().map(|site| site.step());
            list.borrow_mut().push((point.name.clone(), point.step, written));
            // A debug point inside of an observer calls no observer.
            world.debug_point("inside")
        });
        world.debug_point("first")?;
        array.fill(2.0)?;
        world.debug_point("second")?;
        world.debug().stop_observing();
        world.debug_point("nobody looks again")?;
        assert_eq!(*observed.borrow(), [("first".into(), 2, Some(1)), ("second".into(), 3, Some(2))]);
        world.debug().observe(|world, _| {
            world.debug().stop_observing();
            Ok(())
        });
        world.debug_point("the last look")?;
        world.debug().observe(|_, point| Err(zippy::Error::program(format!("enough at {}", point.name))));
        assert!(world.debug_point("here").unwrap_err().to_string().contains("enough at here"));
        Ok(())
    });
}
