use cogwork_flow::{Action, BoxError, CancellationToken, Flow, Wait, from_exec};

use super::{Said, TALK, Telling, finish, listener, numbers_by, teller};
use crate::composite::crashes::dropped_after;

/// Ends after the first message.
fn once() -> Flow<Vec<Said>> {
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));

    Flow::builder("once")
        .node("begin", cogwork_flow::from_fn(|_: &mut Vec<Said>| ()))
        .wait("listen", listen)
        .chain(["begin", "listen"])
        .end("listen", Action::CLOSED)
        .build()
        .unwrap()
}

/// Receives one message and fails.
fn failing() -> Flow<Vec<Said>> {
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));
    let fail = from_exec(|_: Vec<Said>| async { Err::<(), _>(BoxError::from("it failed")) });

    Flow::builder("failing")
        .wait("listen", listen)
        .node("fail", fail)
        .chain(["listen", "fail"])
        .end("listen", Action::CLOSED)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_sender_sees_that_the_receiver_has_ended_or_failed() {
    for flow in [once(), failing()] {
        let teller = teller();
        let (address, mailbox) = TALK.open(1);
        let listening = finish(flow.begin().with_mailbox(mailbox), Vec::new());
        let telling = finish(teller.begin().with_address(address), Telling::new(1, 100));
        let (_, told) = tokio::join!(listening, telling);

        let (ended, telling) = told.unwrap();
        assert_eq!(ended.action, Action::CLOSED);
        assert!(telling.said < 5, "{telling:?}");
    }
}

#[tokio::test]
async fn a_run_that_has_ended_closes_its_ends_although_it_still_exists() {
    let (once, listener, teller) = (once(), listener(), teller());

    let (address, mailbox) = TALK.open(1);
    let mut heard = Vec::new();
    let mut listening = once.begin().with_mailbox(mailbox);
    let telling = finish(teller.begin().with_address(address), Telling::new(1, 9));
    let (_, told) = tokio::join!(listening.finish(&mut heard), telling);
    assert_eq!(told.unwrap().0.action, Action::CLOSED);

    let (address, mailbox) = TALK.open(1);
    let mut state = Telling::new(1, 3);
    let mut telling = teller.begin().with_address(address);
    let listening = finish(listener.begin().with_mailbox(mailbox), Vec::new());
    let (told, listened) = tokio::join!(telling.finish(&mut state), listening);
    told.unwrap();
    let (ended, heard) = listened.unwrap();
    assert_eq!(ended.action, Action::CLOSED);
    assert_eq!(numbers_by(&heard, 1), [1, 2, 3]);
}

#[tokio::test]
async fn a_sender_sees_that_the_receiver_was_dropped_between_any_two_awaits() {
    let (listener, teller) = (listener(), teller());

    for polls in 1..40 {
        let (address, mailbox) = TALK.open(2);
        let listening = finish(listener.begin().with_mailbox(mailbox), Vec::new());
        let telling = finish(teller.begin().with_address(address), Telling::new(1, 500));
        let (dropped, told) = tokio::join!(dropped_after(polls, listening), telling);

        assert!(dropped.is_none());
        let (ended, telling) = told.unwrap();
        assert_eq!(ended.action, Action::CLOSED);
        assert!(telling.said < 500);
    }
}

#[tokio::test]
async fn a_receiver_sees_that_the_sender_was_dropped_between_any_two_awaits() {
    let (listener, teller) = (listener(), teller());

    for polls in 1..40 {
        let (address, mailbox) = TALK.open(2);
        let listening = finish(listener.begin().with_mailbox(mailbox), Vec::new());
        let telling = finish(teller.begin().with_address(address), Telling::new(1, 500));
        let (dropped, listened) = tokio::join!(dropped_after(polls, telling), listening);

        assert!(dropped.is_none());
        let (ended, heard) = listened.unwrap();
        assert_eq!(ended.action, Action::CLOSED);

        // What was sent is in order, without gaps.
        let heard = numbers_by(&heard, 1);
        assert_eq!(heard, (1..=heard.len() as u32).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn both_ends_see_that_the_other_was_cancelled() {
    let (listener, teller) = (listener(), teller());
    let cancelled = CancellationToken::new();
    cancelled.cancel();

    let (address, mailbox) = TALK.open(1);
    let listening = listener.begin().with_mailbox(mailbox);
    let listening = finish(listening.with_cancellation(cancelled.clone()), Vec::new());
    let telling = finish(teller.begin().with_address(address), Telling::new(1, 9));
    let (listened, told) = tokio::join!(listening, telling);
    assert!(listened.unwrap_err().is_cancelled());
    assert_eq!(told.unwrap().0.action, Action::CLOSED);

    let (address, mailbox) = TALK.open(1);
    let telling = teller.begin().with_address(address);
    let telling = finish(telling.with_cancellation(cancelled), Telling::new(1, 9));
    let listening = finish(listener.begin().with_mailbox(mailbox), Vec::new());
    let (told, listened) = tokio::join!(telling, listening);
    assert!(told.unwrap_err().is_cancelled());
    assert_eq!(listened.unwrap().0.action, Action::CLOSED);
}

#[tokio::test]
async fn a_failed_run_keeps_its_ends_and_can_be_continued() {
    let flow = listener();
    let teller = teller();
    let (address, mailbox) = TALK.open(1);

    let mut state = Telling::new(1, 5);
    let mut telling = teller.begin().with_address(address).with_max_steps(3);
    let listening = finish(flow.begin().with_mailbox(mailbox), Vec::new());
    let telling = async move {
        assert!(
            telling
                .finish(&mut state)
                .await
                .unwrap_err()
                .is_step_limit()
        );
        telling = telling.with_max_steps(100);
        telling.finish(&mut state).await.unwrap();
    };

    let (listened, ()) = tokio::join!(listening, telling);
    assert_eq!(numbers_by(&listened.unwrap().1, 1), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn ends_outside_of_runs_see_each_other() {
    let (address, mut mailbox) = TALK.open(1);
    let said = Said { by: 1, number: 1 };
    let (sent, received) = tokio::join!(address.send(&said), mailbox.receive());
    sent.unwrap();
    assert_eq!(received, Some(said));

    let other = address.clone();
    drop(address);
    let (received, ()) = tokio::join!(mailbox.receive(), async { drop(other) });
    assert_eq!(received, None);

    let (address, mailbox) = TALK.open(1);
    assert!(!address.is_closed());
    let ((), ()) = tokio::join!(address.closed(), async { drop(mailbox) });
    assert!(address.is_closed());
    assert!(address.send(&said).await.unwrap_err().is_closed());
}
