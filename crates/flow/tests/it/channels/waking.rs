use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use cogwork_flow::journal::MemoryJournal;
use cogwork_flow::{Action, CancellationToken, Flow, Wait};
use tokio::time::Instant;

use super::{Said, TALK, Telling, finish, listener, numbers_by, teller};

/// Counts how often a future is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_run_wakes_up_only_when_a_message_arrives_and_needs_no_timer() {
    // Without a runtime, a timer would panic.
    let flow = listener();
    let (address, mailbox) = TALK.open(4);
    let mut heard = Vec::new();
    let mut run = flow.begin().with_mailbox(mailbox);

    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = Context::from_waker(&waker);
    {
        let mut running = pin!(run.finish(&mut heard));
        assert!(running.as_mut().poll(&mut context).is_pending());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);

        let mut sending = pin!(address.send(&Said { by: 1, number: 1 }));
        let mut nobody = Context::from_waker(Waker::noop());
        assert!(sending.as_mut().poll(&mut nobody).is_pending());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);

        assert!(running.as_mut().poll(&mut context).is_pending());
        assert!(matches!(sending.poll(&mut nobody), Poll::Ready(Ok(()))));
    }

    assert_eq!(numbers_by(&heard, 1), [1]);
}

#[tokio::test(start_paused = true)]
async fn messages_of_each_sender_arrive_in_order() {
    let started = Instant::now();
    let (teller, listener) = (teller(), listener());
    let (address, mailbox) = TALK.open(2);

    let listening = finish(listener.begin().with_mailbox(mailbox), Vec::new());
    let one = teller.begin().with_address(address.clone());
    let two = teller.begin().with_address(address.clone());
    let three = teller.begin().with_address(address);
    let (heard, ..) = tokio::try_join!(
        listening,
        finish(one, Telling::new(1, 300)),
        finish(two, Telling::new(2, 200)),
        finish(three, Telling::new(3, 100)),
    )
    .unwrap();

    let (ended, heard) = heard;
    assert_eq!(ended.action, Action::CLOSED);
    assert_eq!(heard.len(), 600);
    for (by, total) in [(1, 300), (2, 200), (3, 100)] {
        assert_eq!(numbers_by(&heard, by), (1..=total).collect::<Vec<_>>());
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn runs_in_different_tasks_wake_each_other() {
    let (address, mailbox) = TALK.open(1);
    let listening = tokio::spawn(async move {
        let flow = listener();
        let run = flow.begin().with_mailbox(mailbox);
        finish(run, Vec::new()).await.unwrap().1
    });
    let telling = tokio::spawn(async move {
        let flow = teller();
        let run = flow.begin().with_address(address);
        finish(run, Telling::new(1, 50)).await.unwrap()
    });

    telling.await.unwrap();
    let heard = listening.await.unwrap();
    assert_eq!(numbers_by(&heard, 1), (1..=50).collect::<Vec<_>>());
}

fn impatient(limit: Duration) -> Flow<Vec<Said>> {
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));

    Flow::builder("impatient")
        .start("listen")
        .wait("listen", listen.with_timeout(limit))
        .edge("listen", Action::DEFAULT, "listen")
        .end("listen", Action::CLOSED)
        .end("listen", Action::TIMED_OUT)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_message_times_out_and_each_wait_has_its_own_limit() {
    for is_recorded in [false, true] {
        let flow = impatient(Duration::from_secs(60));
        let (address, mailbox) = TALK.open(4);
        let mut run = flow.begin().with_mailbox(mailbox);
        if is_recorded {
            run = run.with_journal_any_state(MemoryJournal::new("r"));
        }

        let started = Instant::now();
        let sending = async {
            for number in 1..=3 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                address.send(&Said { by: 1, number }).await.unwrap();
            }
        };
        let (finished, ()) = tokio::join!(finish(run, Vec::new()), sending);
        let (ended, heard) = finished.unwrap();

        assert_eq!(ended.action, Action::TIMED_OUT);
        assert_eq!(numbers_by(&heard, 1), [1, 2, 3]);
        let took = started.elapsed();
        assert!((209..=211).contains(&took.as_secs()), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_message_can_be_cancelled_and_has_a_deadline() {
    let flow = listener();
    let (_address, mailbox) = TALK.open(4);
    let token = CancellationToken::new();
    let run = flow.begin().with_mailbox(mailbox);
    let running = finish(run.with_cancellation(token.clone()), Vec::new());
    let cancelling = async { token.cancel() };
    let (finished, ()) = tokio::join!(running, cancelling);
    assert!(finished.unwrap_err().is_cancelled());

    let (_address, mailbox) = TALK.open(4);
    let deadline = Instant::now() + Duration::from_secs(5);
    let run = flow.begin().with_mailbox(mailbox).with_deadline(deadline);
    let error = finish(run, Vec::new()).await.unwrap_err();
    assert!(error.is_deadline());
    assert_eq!(Instant::now(), deadline);
}

#[tokio::test]
async fn a_run_without_a_mailbox_pauses_and_takes_delivered_messages() {
    let flow = listener();
    let mut run = flow.begin();
    let mut heard = Vec::new();

    let paused = run.finish(&mut heard).await.unwrap_err();
    assert_eq!(paused.into_paused().unwrap().event, "talk");

    let said = Said { by: 9, number: 1 };
    run.deliver("talk", &said).await.unwrap();
    run.finish(&mut heard).await.unwrap_err();
    assert_eq!(heard, [said]);
}
