//! Everything that a viewer does with an array. The fuzzer includes this file, too.

use zippy_debugger::imaging::{
    ColourMap, Colouring, Differences, Mosaic, Norm, Quantity, Range, Scale, Slice, TypedView, Values, Viewport,
    box_in_plane, cell, locate, paint,
};
use zippy_debugger::session::Session;
use zippy_protocol::{Answer, ArrayEntry, Message, Request, SummaryRequest, ViewRequest};

/// Returns the answer to a request, or `None` for an error.
pub(crate) fn answer(session: &mut dyn Session, request: Request) -> Option<Answer> {
    session.poll();
    session.ask(request);
    session.poll().into_iter().find_map(|message| match message {
        Message::Answer(_, answer) => answer.ok(),
        _ => None,
    })
}

/// Requests everything of an array and computes all pictures.
pub(crate) fn look_at(session: &mut dyn Session, entry: &ArrayEntry) {
    let slice = Slice::new(&entry.shape);
    let port = Viewport::fit([0.0; 2], [64.0; 2], slice.extents(&entry.shape));
    let index = slice.index([1, 1]);
    let _ =
        (locate(entry, None, &index), locate(entry, Some(1), &index), slice.position(&index), slice.within(&[3, 4]));
    for chunk in &entry.chunks {
        let _ = box_in_plane(&slice, chunk, [&entry.ghosts[0], &entry.ghosts[1]]);
    }
    let summary = |numbers, length| {
        let percentiles = vec![1.0, 99.0];
        SummaryRequest { length, bins: 8, percentiles, ..SummaryRequest::of(entry.array, numbers) }
    };
    for (name, quantity) in Quantity::all(&entry.element).into_iter().take(8) {
        assert_eq!(Quantity::named(&entry.element, Some(&name)).map(|found| found.name(&entry.element)), Ok(name));
        for length in [false, true] {
            answer(session, Request::Summary(summary(quantity.numbers, length)));
        }
        let Some(viewed) = quantity.viewed(&entry.element) else { continue };
        let Some(request) = port.request(&slice, entry.array, &entry.shape, 1.0, viewed) else { continue };
        let mut requests = vec![request.clone(), ViewRequest { numbers: None, ..request }];
        let axis = slice.fixed().next().unwrap_or(0);
        requests
            .extend(Mosaic::new(&slice, axis, &entry.shape, 4, 1.0).map(|mosaic| mosaic.request(entry.array, 1, None)));
        for request in requests {
            let Some(Answer::View(view)) = answer(session, Request::View(request)) else { continue };
            cell(&view, &entry.element, &view.of.start);
            let Ok(values) = Values::new(&view, &entry.element, quantity) else { continue };
            let ends = Range::Percentile(1.0, 99.0).of(values.scalars(), Norm::Linear);
            let ends = ends.unwrap_or((0.0.into(), 1.0.into()));
            let scale = Scale::new(Norm::Linear, ends).unwrap();
            let _ = paint(&values, &slice, &Colouring { map: ColourMap::first(), scale });
            let typed = TypedView { view: &view, element: &entry.element };
            let found = Differences::new(typed, typed, quantity).unwrap();
            assert_eq!((found.cells, found.nans), (0, 0));
        }
    }
}
