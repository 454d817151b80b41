use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::journal::{Journal, MemoryJournal};
use cogwork_flow::{Action, Channel, Flow, Wait, from_phases_with, send};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{Said, TALK, finish, listener, numbers_by};

/// Receives messages, but first works for as long as there is no permit.
fn busy_listener(work: Arc<Semaphore>) -> Flow<Vec<Said>> {
    let work = from_phases_with(
        work,
        |_: &mut Vec<Said>| (),
        async |work, ()| {
            work.acquire().await.map_err(|_| "closed")?.forget();
            Ok::<_, &str>(())
        },
        |_, (), ()| (),
    );
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));

    Flow::builder("busy")
        .start("work")
        .node("work", work)
        .edge("work", Action::DEFAULT, "listen")
        .wait("listen", listen)
        .edge("listen", Action::DEFAULT, "work")
        .end("listen", Action::CLOSED)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_run_stores_as_many_messages_as_the_capacity_and_senders_wait() {
    for capacity in [1, 2, 7] {
        let work = Arc::new(Semaphore::new(0));
        let sent = Arc::new(AtomicUsize::new(0));
        let journal = Arc::new(MemoryJournal::new("r"));
        let (address, mailbox) = TALK.open(capacity);

        let listening = tokio::spawn({
            let flow = busy_listener(Arc::clone(&work));
            let journal = Arc::clone(&journal);
            async move {
                let run = flow.begin().with_journal(journal).with_mailbox(mailbox);
                finish(run, Vec::new()).await.unwrap().1
            }
        });
        let sending = tokio::spawn({
            let sent = Arc::clone(&sent);
            async move {
                for number in 1..=20 {
                    address.send(&Said { by: 1, number }).await.unwrap();
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            }
        });

        for used in 0..5 {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            assert_eq!(journal.unused_answers("talk"), Some(capacity));
            assert_eq!(sent.load(Ordering::Relaxed), capacity + used);
            work.add_permits(1);
        }

        work.add_permits(100);
        sending.await.unwrap();
        let heard = listening.await.unwrap();
        assert_eq!(numbers_by(&heard, 1), (1..=20).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn any_capacity_is_accepted() {
    for capacity in [0, 1, 1_000, usize::MAX] {
        let flow = listener();
        let (address, mailbox) = TALK.open(capacity);
        let run = flow.begin().with_mailbox(mailbox);
        let sending = async {
            for number in 1..=3 {
                address.send(&Said { by: 1, number }).await.unwrap();
            }
            drop(address);
        };
        let (finished, ()) = tokio::join!(finish(run, Vec::new()), sending);
        assert_eq!(numbers_by(&finished.unwrap().1, 1), [1, 2, 3]);
    }
}

const TEXTS: Channel<String> = Channel::new("texts");

fn reader() -> Flow<Vec<String>> {
    let read = Wait::for_message(&TEXTS, |all: &mut Vec<String>, text| all.push(text));

    Flow::builder("reader")
        .start("read")
        .wait("read", read)
        .edge("read", Action::DEFAULT, "read")
        .end("read", Action::CLOSED)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_message_that_is_too_large_is_an_error_of_the_sender() {
    let flow = reader();
    let (address, mailbox) = TEXTS.open(4);
    let run = flow.begin().with_mailbox(mailbox).with_max_outcome(100);
    let sending = async move {
        let error = address.send(&"x".repeat(99)).await.unwrap_err();
        assert!(!error.is_closed());
        assert_eq!(
            error.to_string(),
            "no message was sent to `texts`: the receiver cannot store it: it is larger than 100 bytes"
        );
        address.send(&"x".repeat(98)).await.unwrap();

        let error = address.send(&"x".repeat(17 << 20)).await.unwrap_err();
        assert!(error.to_string().contains("larger than"), "{error}");
    };

    let (finished, ()) = tokio::join!(finish(run, Vec::new()), sending);
    assert_eq!(finished.unwrap().1, ["x".repeat(98)]);
}

#[tokio::test]
async fn texts_arrive_unchanged() {
    let texts = [
        "",
        "\n\r\u{2028}\"\\",
        "null",
        "\u{0}\u{202e}",
        "{\"closed\":true}",
    ];
    let flow = reader();
    let (address, mailbox) = TEXTS.open(1);
    let run = flow.begin().with_mailbox(mailbox);
    let sending = async move {
        for text in texts {
            address.send(&text.to_owned()).await.unwrap();
        }
    };

    let (finished, ()) = tokio::join!(finish(run, Vec::new()), sending);
    assert_eq!(finished.unwrap().1, texts);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_back_is_not_sent() {
    const NUMBERS: Channel<f64> = Channel::new("numbers");

    let (address, mut mailbox) = NUMBERS.open(1);
    let error = address.send(&f64::NAN).await.unwrap_err();
    assert!(error.to_string().contains("read back"), "{error}");

    let sending = address.send(&1.5);
    let (sent, received) = tokio::join!(sending, mailbox.receive());
    sent.unwrap();
    assert_eq!(received, Some(1.5));
}

#[tokio::test]
async fn withdrawn_messages_do_not_pile_up() {
    let (address, mut mailbox) = TEXTS.open(2);
    for _ in 0..1_000 {
        let text = "withdrawn".to_owned();
        let sending = address.send(&text);
        assert!(futures_util::FutureExt::now_or_never(sending).is_none());
    }

    let text = "wanted".to_owned();
    let (sent, received) = tokio::join!(address.send(&text), mailbox.receive());
    sent.unwrap();
    assert_eq!(received.as_deref(), Some("wanted"));
}

#[tokio::test]
async fn a_message_of_another_type_is_refused_by_the_receiver() {
    #[derive(Serialize, Deserialize)]
    struct Other {
        other: u32,
    }

    const OTHER: Channel<Other> = Channel::new("talk");

    let flow = listener();
    let (other, mailbox) = OTHER.open(1);
    let mut run = flow.begin().with_mailbox(mailbox);
    let mut heard = Vec::new();
    let message = Other { other: 1 };
    let (finished, sent) = tokio::join!(run.finish(&mut heard), other.send(&message));

    sent.unwrap();
    let error = finished.unwrap_err().to_string();
    assert!(error.contains("the event `talk`"), "{error}");

    // The message is discarded, and the run can continue.
    drop(other);
    assert_eq!(run.finish(&mut heard).await.unwrap().action, Action::CLOSED);
}

#[tokio::test]
async fn a_run_without_an_address_for_the_channel_says_which_it_has() {
    let flow = Flow::builder("f")
        .node("send", send(&TEXTS, |text: &mut String| text.clone()))
        .chain(["send"])
        .end("send", Action::CLOSED)
        .build()
        .unwrap();
    let (address, _mailbox) = TALK.open(1);

    let error = flow.run(&mut String::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `f`, node `send`: exec failed: no message was sent to `texts`: the run has no addresses; add one with `Run::with_address`"
    );

    let run = flow.begin().with_address(address);
    let error = finish(run, String::new()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the run has addresses for `talk`")
    );
}
