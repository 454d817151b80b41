//! Runs that crash at any `await`, and lose what isn't written.

use std::num::NonZeroU64;

use cogwork_flow::journal::Entry;
use cogwork_flow::{Action, Address, Flow, RunError};

use super::disk::Disk;
use super::{Said, TALK, Telling, finish, listener, numbers_by, teller};
use crate::composite::crashes::dropped_after;

const TOTAL: u32 = 4;

/// Two runs that send messages and one that receives them, and their records.
struct Talk {
    teller: Flow<Telling>,
    listener: Flow<Vec<Said>>,
    tellers: [Disk; 2],
    heard: Disk,
    /// How often the records are folded; never if there is no number.
    fold_every: Option<NonZeroU64>,
}

impl Talk {
    fn new(fold_every: Option<u64>) -> Self {
        Self {
            teller: teller(),
            listener: listener(),
            tellers: [Disk::default(), Disk::default()],
            heard: Disk::default(),
            fold_every: fold_every.and_then(NonZeroU64::new),
        }
    }

    /// Runs all three from their records, as after a restart of the process.
    async fn run(&self) -> Result<Vec<Said>, RunError> {
        let (address, mailbox) = TALK.open(2);
        let journal = self.heard.journal("listener");
        let heard = state(&journal, Vec::new());
        let mut run = self.listener.begin().with_journal(journal);
        run = run.with_mailbox(mailbox);
        if let Some(every) = self.fold_every {
            run = run.with_fold_every(every);
        }

        let (listened, one, two) = tokio::join!(
            finish(run, heard),
            self.tell(0, address.clone()),
            self.tell(1, address)
        );
        one?;
        two?;
        let (ended, heard) = listened?;
        assert_eq!(ended.action, Action::CLOSED);
        Ok(heard)
    }

    async fn tell(&self, by: u32, address: Address<Said>) -> Result<(), RunError> {
        let journal = self.tellers[by as usize].journal(&format!("teller {by}"));
        let telling = state(&journal, Telling::new(by, TOTAL));
        let mut run = self.teller.begin().with_journal(journal);
        run = run.with_address(address);
        if let Some(every) = self.fold_every {
            run = run.with_fold_every(every);
        }

        finish(run, telling).await.map(drop)
    }
}

fn state<S: serde::de::DeserializeOwned>(
    journal: &impl cogwork_flow::journal::Journal,
    first: S,
) -> S {
    match journal.snapshot() {
        Some(snapshot) => snapshot.state.read().unwrap(),
        None => first,
    }
}

fn assert_all_heard_once(heard: &[Said]) {
    for by in 0..2 {
        assert_eq!(numbers_by(heard, by), (1..=TOTAL).collect::<Vec<_>>());
    }
    assert_eq!(heard.len(), 2 * TOTAL as usize);
}

#[tokio::test]
async fn no_message_is_lost_or_read_twice_if_all_runs_crash_at_any_await() {
    for fold_every in [None, Some(1), Some(3)] {
        for polls in 1.. {
            let talk = Talk::new(fold_every);
            if let Some(finished) = dropped_after(polls, talk.run()).await {
                assert_all_heard_once(&finished.unwrap());
                assert!(polls > 20, "it was dropped in the middle: {polls}");
                break;
            }

            assert_all_heard_once(&talk.run().await.unwrap());
            // All of it is on record.
            assert_all_heard_once(&talk.run().await.unwrap());
        }
    }
}

#[tokio::test]
async fn no_message_is_lost_or_read_twice_if_all_runs_crash_again_and_again() {
    for fold_every in [None, Some(2)] {
        // Fewer polls could be too few to write a line.
        for polls in 4..30 {
            let talk = Talk::new(fold_every);
            let mut crashes = 0;
            let heard = loop {
                match dropped_after(polls + crashes / 3, talk.run()).await {
                    Some(finished) => break finished.unwrap(),
                    None => crashes += 1,
                }
            };

            assert_all_heard_once(&heard);
        }
    }
}

#[tokio::test]
async fn a_sender_that_crashes_at_any_await_sends_each_message_once() {
    for polls in 1.. {
        let talk = Talk::new(None);
        let (address, mailbox) = TALK.open(2);
        let journal = talk.heard.journal("listener");
        let run = talk.listener.begin().with_journal(journal);
        let listening = finish(run.with_mailbox(mailbox), Vec::new());

        let telling = async {
            let first = dropped_after(polls, talk.tell(0, address.clone())).await;
            talk.tell(0, address.clone()).await.unwrap();
            drop(address);
            first.is_some()
        };
        let (listened, was_complete) = tokio::join!(listening, telling);

        let heard = listened.unwrap().1;
        assert_eq!(numbers_by(&heard, 0), (1..=TOTAL).collect::<Vec<_>>());
        if was_complete {
            assert!(polls > 10);
            return;
        }
    }
}

#[tokio::test]
async fn a_message_is_on_record_before_its_sender_continues() {
    let talk = Talk::new(None);
    let (address, mailbox) = TALK.open(8);
    let journal = talk.heard.journal("listener");
    let run = talk.listener.begin().with_journal(journal);
    let listening = finish(run.with_mailbox(mailbox), Vec::new());

    let sending = async {
        for number in 1..=5 {
            address.send(&Said { by: 7, number }).await.unwrap();
            let entries = talk.heard.entries();
            let answers = entries
                .iter()
                .filter(|entry| matches!(entry, Entry::Answer { .. }));
            assert_eq!(answers.count(), number as usize);
        }
        drop(address);
    };
    let (listened, ()) = tokio::join!(listening, sending);
    assert_eq!(numbers_by(&listened.unwrap().1, 7), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn whether_the_other_end_was_gone_is_recorded() {
    let talk = Talk::new(None);
    let (address, mailbox) = TALK.open(1);
    drop(mailbox);
    talk.tell(0, address).await.unwrap();

    // The receiver is there now, but the run has ended on `closed`.
    let (address, mut mailbox) = TALK.open(1);
    let (told, received) = tokio::join!(talk.tell(0, address), mailbox.receive());
    told.unwrap();
    assert_eq!(received, None);

    let (address, mailbox) = TALK.open(1);
    drop(address);
    let run = talk.listener.begin();
    let run = run.with_journal(talk.heard.journal("listener"));
    finish(run.with_mailbox(mailbox), Vec::new()).await.unwrap();

    let (address, mailbox) = TALK.open(1);
    let run = talk.listener.begin();
    let run = run.with_journal(talk.heard.journal("listener"));
    let (ended, heard) = finish(run.with_mailbox(mailbox), Vec::new()).await.unwrap();
    assert_eq!(ended.action, Action::CLOSED);
    assert!(heard.is_empty());
    assert!(address.is_closed());
}
