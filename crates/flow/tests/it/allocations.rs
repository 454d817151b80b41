//! What a run allocates when it is watched, and when it isn't.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;

use allocation_counter::{AllocationInfo, measure};
use cogwork_flow::watch::{Event, EventSink, Observer, report_from};
use cogwork_flow::{Action, Flow, Node, from_fn};

/// The size of the future of `exec`, in bytes.
const HELD: usize = 64 * 1024;

/// A node with a large future.
struct Large;

impl Node<()> for Large {
    type Prep = ();
    type Exec = ();
    type Error = Infallible;

    fn prep(&self, (): &mut ()) -> Result<(), Infallible> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<(), Infallible> {
        let held = [1_u8; HELD];
        tokio::task::yield_now().await;
        black_box(&held);
        Ok(())
    }

    fn post(&self, (): &mut (), (): (), (): ()) -> Result<Action, Infallible> {
        Ok(Action::DEFAULT)
    }
}

/// An observer that keeps nothing.
struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event) {}
}

fn allocated(flow: &Flow<()>, sink: Option<EventSink>) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();

    let mut run = flow.begin();
    if let Some(sink) = sink {
        run = run.with_events(sink);
    }

    measure(|| {
        let ended = runtime.block_on(run.finish(&mut ()));
        assert!(ended.is_ok());
    })
}

#[test]
fn a_watched_step_keeps_the_future_of_exec_once() {
    let flow = Flow::from_node("large", Large).unwrap();
    let unwatched = allocated(&flow, None).bytes_total;
    let watched = allocated(&flow, Some(EventSink::new(Arc::new(Silent)))).bytes_total;

    let held = HELD as u64;
    assert!(unwatched >= held, "{unwatched} bytes");
    assert!(
        watched < unwatched + held,
        "{watched} bytes instead of {unwatched}"
    );
}

#[test]
fn a_report_allocates_nothing_in_a_run_that_is_not_watched() {
    let silent = from_fn(|(): &mut ()| ());
    let reporting = from_fn(|(): &mut ()| report_from("text", || "text ".repeat(1_000)));
    let silent = Flow::from_node("node", silent).unwrap();
    let reporting = Flow::from_node("node", reporting).unwrap();

    assert_eq!(allocated(&silent, None), allocated(&reporting, None));

    let sink = || Some(EventSink::new(Arc::new(Silent)));
    let added = allocated(&reporting, sink()).bytes_total - allocated(&silent, sink()).bytes_total;
    assert!(added >= 5_000, "{added} bytes");
}

/// Thousands of runs wait at once. The future of a task contains both.
#[test]
fn a_run_and_the_future_that_finishes_it_stay_small() {
    let flow = Flow::from_node("node", from_fn(|(): &mut ()| ())).unwrap();
    let mut state = ();
    let mut run = flow.begin();
    let of_run = size_of_val(&run);
    let of_finish = size_of_val(&run.finish(&mut state));

    assert!(of_run <= 128, "{of_run} bytes");
    assert!(of_finish <= 320, "{of_finish} bytes");
}
