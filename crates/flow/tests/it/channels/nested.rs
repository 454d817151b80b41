//! Runs that send and receive in subflows, items and branches, and crash.

use cogwork_flow::{Action, Branches, Channel, Each, Flow, RunError, Wait, from_fn, send};
use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::{Said, TALK, Telling, finish, listener, numbers_by};
use crate::composite::crashes::dropped_after;

/// Sends one message: the state.
fn saying() -> Flow<Said> {
    Flow::builder("saying")
        .node("say", send(&TALK, |said: &mut Said| *said))
        .chain(["say"])
        .end("say", Action::CLOSED)
        .build()
        .unwrap()
}

fn next(telling: &Telling) -> Said {
    Said {
        by: telling.by,
        number: telling.said + 1,
    }
}

/// Says a number in a subflow, two in items and two in branches, again and again.
fn everywhere() -> Flow<Telling> {
    let inner = Flow::builder("inner")
        .start("say")
        .node("say", send(&TALK, |telling: &mut Telling| next(telling)))
        .edge("say", Action::DEFAULT, "say again")
        .end("say", Action::CLOSED)
        .node(
            "say again",
            send(&TALK, |telling: &mut Telling| Said {
                number: telling.said + 2,
                ..next(telling)
            }),
        )
        .end("say again", Action::DEFAULT)
        .end("say again", Action::CLOSED)
        .build()
        .unwrap();
    let items = Each::at_most(
        2,
        saying(),
        |telling: &Telling| {
            [1, 2]
                .map(|more| Said {
                    by: telling.by,
                    number: telling.said + more,
                })
                .to_vec()
        },
        |telling: &mut Telling, said: Vec<Said>| telling.said += said.len() as u32,
    );
    let branches = Branches::new()
        .branch("left", saying(), next, |telling: &mut Telling, _| {
            telling.said += 1;
        })
        .branch(
            "right",
            saying(),
            |telling: &Telling| Said {
                number: telling.said + 2,
                ..next(telling)
            },
            |telling, _| telling.said += 1,
        );

    let count = from_fn(|telling: &mut Telling| telling.said += 2);
    let turn = from_fn(|telling: &mut Telling| {
        if telling.said >= telling.total {
            "done"
        } else {
            "again"
        }
    });

    Flow::builder("everywhere")
        .start("subflow")
        .subflow("subflow", inner, |telling: &mut Telling| telling)
        .edge("subflow", Action::DEFAULT, "count")
        .end("subflow", Action::CLOSED)
        .node("count", count)
        .each("items", items)
        .branches("branches", branches)
        .edge("count", Action::DEFAULT, "items")
        .edge("items", Action::DEFAULT, "branches")
        .edge("branches", Action::DEFAULT, "turn")
        .node("turn", turn.with_actions(["again", "done"]))
        .edge("turn", "again", "subflow")
        .end("turn", "done")
        .build()
        .unwrap()
}

/// A run that sends and one that receives, and their records.
#[derive(Default)]
struct Disks {
    teller: Disk,
    heard: Disk,
}

async fn talk(disks: &Disks, total: u32) -> Result<Vec<Said>, RunError> {
    let (address, mailbox) = TALK.open(2);
    let listener = listener();
    let teller = everywhere();

    let listening = listener
        .begin()
        .with_journal(disks.heard.journal("listener"));
    let telling = teller.begin().with_journal(disks.teller.journal("teller"));
    let (heard, told) = tokio::join!(
        finish(listening.with_mailbox(mailbox), Vec::new()),
        finish(telling.with_address(address), Telling::new(0, total)),
    );

    told?;
    Ok(heard?.1)
}

fn assert_heard_once(heard: &[Said], total: u32) {
    let mut numbers = numbers_by(heard, 0);
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=total).collect::<Vec<_>>());
}

#[tokio::test]
async fn messages_of_subflows_items_and_branches_arrive_once_whenever_all_runs_crash() {
    const TOTAL: u32 = 12;

    for polls in 1.. {
        let disks = Disks::default();
        let finished = dropped_after(polls, talk(&disks, TOTAL)).await;
        let was_complete = finished.is_some();

        assert_heard_once(&talk(&disks, TOTAL).await.unwrap(), TOTAL);
        if was_complete {
            assert!(polls > 20, "it was dropped in the middle: {polls}");
            break;
        }
    }

    for polls in 6..40 {
        let disks = Disks::default();
        let mut crashes = 0;
        let heard = loop {
            match dropped_after(polls + crashes / 3, talk(&disks, TOTAL)).await {
                Some(finished) => break finished.unwrap(),
                None => crashes += 1,
            }
        };
        assert_heard_once(&heard, TOTAL);
    }
}

const TASKS: Channel<u32> = Channel::new("tasks");

/// What two readers of one channel have read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Readers {
    left: Vec<u32>,
    right: Vec<u32>,
}

/// Two branches that read the same channel until all senders are gone.
fn readers() -> Flow<Readers> {
    let reader = || {
        Flow::builder("reader")
            .start("read")
            .wait(
                "read",
                Wait::for_message(&TASKS, |read: &mut Vec<u32>, task| read.push(task)),
            )
            .edge("read", Action::DEFAULT, "read")
            .end("read", Action::CLOSED)
            .build()
            .unwrap()
    };
    let branches = Branches::new()
        .branch(
            "left",
            reader(),
            |readers: &Readers| readers.left.clone(),
            |readers: &mut Readers, read| readers.left = read,
        )
        .branch(
            "right",
            reader(),
            |readers| readers.right.clone(),
            |readers, read| readers.right = read,
        );

    Flow::builder("readers")
        .branches("both", branches)
        .chain(["both"])
        .build()
        .unwrap()
}

async fn read_all(disk: &Disk, messages: u32) -> Result<Readers, RunError> {
    let (address, mailbox) = TASKS.open(2);
    let flow = readers();
    let journal = disk.journal("readers");
    let run = flow.begin().with_journal(journal).with_mailbox(mailbox);
    let sending = async {
        for number in 1..=messages {
            if address.send(&number).await.is_err() {
                break;
            }
        }
        drop(address);
    };

    let (read, ()) = tokio::join!(finish(run, Readers::default()), sending);
    Ok(read?.1)
}

#[tokio::test]
async fn two_readers_of_a_channel_share_its_messages() {
    const MESSAGES: u32 = 6;

    let read = read_all(&Disk::default(), MESSAGES).await.unwrap();
    let mut all = [read.left.clone(), read.right].concat();
    all.sort_unstable();
    assert_eq!(all, (1..=MESSAGES).collect::<Vec<_>>());

    for polls in 1.. {
        let disk = Disk::default();
        let first = dropped_after(polls, read_all(&disk, MESSAGES)).await;
        if first.is_some() {
            assert!(polls > 10);
            return;
        }

        // The sender has no journal, so it may send a message again that is on record.
        let read = read_all(&disk, MESSAGES).await.unwrap();
        assert_eq!(read_all(&disk, 0).await.unwrap(), read);

        let mut all = [read.left, read.right].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all, (1..=MESSAGES).collect::<Vec<_>>(), "{polls}");
    }
}
