//! Messages in branches, in composite nodes and in other nodes.

use cogwork_flow::journal::MemoryJournal;
use cogwork_flow::{
    Action, BoxError, Branches, Channel, Flow, Node, Received, Wait, from_exec, send,
};

use super::disk::Disk;
use super::finish;
use crate::composite::crashes::dropped_after;

const LEFT: Channel<u32> = Channel::new("left");
const RIGHT: Channel<u32> = Channel::new("right");
const SUMS: Channel<u32> = Channel::new("sums");

fn one_message(channel: &Channel<u32>) -> Flow<u32> {
    Flow::builder("one")
        .wait(
            "one",
            Wait::for_message(channel, |n: &mut u32, more: u32| *n += more),
        )
        .chain(["one"])
        .end("one", Action::CLOSED)
        .build()
        .unwrap()
}

#[tokio::test]
async fn branches_wait_for_messages_side_by_side() {
    let branches = Branches::new()
        .branch(
            "left",
            one_message(&LEFT),
            |n: &u32| *n,
            |n, left| *n += left,
        )
        .branch("right", one_message(&RIGHT), |n| *n, |n, right| *n += right);
    let flow = Flow::builder("both")
        .branches("both", branches)
        .chain(["both"])
        .build()
        .unwrap();

    let (left, left_box) = LEFT.open(1);
    let (right, right_box) = RIGHT.open(1);
    let run = flow.begin().with_journal(MemoryJournal::new("r"));
    let run = run.with_mailbox(left_box).with_mailbox(right_box);
    let sending = async {
        right.send(&20).await.unwrap();
        left.send(&1).await.unwrap();
    };

    let (finished, ()) = tokio::join!(finish(run, 0), sending);
    assert_eq!(finished.unwrap().1, 21);
}

/// Adds up numbers until all senders are gone, and sends each sum.
struct Adder;

impl Node<u32> for Adder {
    type Prep = ();
    type Exec = u32;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut u32) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<u32, BoxError> {
        let mut sum = 0;
        while let Received::Message(n) = LEFT.receive(None).await? {
            sum += n;
            SUMS.send(&sum).await?;
        }

        Ok(sum)
    }

    fn post(&self, state: &mut u32, (): (), sum: u32) -> Result<Action, BoxError> {
        *state = sum;
        Ok(Action::DEFAULT)
    }
}

fn adder() -> Flow<u32> {
    Flow::builder("adder")
        .node("add", Adder)
        .chain(["add"])
        .build()
        .unwrap()
}

fn numbers() -> Flow<u32> {
    let next = cogwork_flow::from_fn(|n: &mut u32| {
        *n += 1;
        if *n > 3 { "done" } else { "tell" }
    });

    Flow::builder("numbers")
        .start("next")
        .node("next", next.with_actions(["done", "tell"]))
        .end("next", "done")
        .edge("next", "tell", "tell")
        .node("tell", send(&LEFT, |n: &mut u32| *n))
        .edge("tell", Action::DEFAULT, "next")
        .end("tell", Action::CLOSED)
        .build()
        .unwrap()
}

fn sums() -> Flow<Vec<u32>> {
    Flow::builder("sums")
        .start("hear")
        .wait(
            "hear",
            Wait::for_message(&SUMS, |all: &mut Vec<u32>, sum| all.push(sum)),
        )
        .edge("hear", Action::DEFAULT, "hear")
        .end("hear", Action::CLOSED)
        .build()
        .unwrap()
}

/// Runs the three from their records.
async fn run(disks: &[Disk; 3]) -> (u32, Vec<u32>) {
    let (numbers, adder, sums) = (numbers(), adder(), sums());
    let (left, left_box) = LEFT.open(1);
    let (right, right_box) = SUMS.open(1);

    let telling = numbers.begin().with_journal(disks[0].journal("numbers"));
    let adding = adder.begin().with_journal(disks[1].journal("adder"));
    let hearing = sums.begin().with_journal(disks[2].journal("sums"));
    let adding = adding.with_mailbox(left_box).with_address(right);
    let (_, added, heard) = tokio::try_join!(
        finish(telling.with_address(left), 0),
        finish(adding, 0),
        finish(hearing.with_mailbox(right_box), Vec::new()),
    )
    .unwrap();

    (added.1, heard.1)
}

#[tokio::test]
async fn a_composite_node_receives_and_sends_each_message_once_whenever_it_crashes() {
    for polls in 1.. {
        let disks = [Disk::default(), Disk::default(), Disk::default()];
        let first = dropped_after(polls, run(&disks)).await;
        assert_eq!(run(&disks).await, (6, vec![1, 3, 6]));

        if first.is_some() {
            assert!(polls > 20);
            return;
        }
    }
}

#[tokio::test]
async fn a_node_that_is_not_composite_sends_only_without_a_journal() {
    let flow = Flow::from_node(
        "send",
        from_exec(|n: u32| async move { SUMS.send(&n).await }),
    )
    .unwrap();

    let (address, mut mailbox) = SUMS.open(1);
    let sending = finish(flow.begin().with_address(address.clone()), 5);
    let (sent, received) = tokio::join!(sending, mailbox.receive());
    sent.unwrap();
    assert_eq!(received, Some(5));

    let run = flow.begin().with_address(address);
    let run = run.with_journal(MemoryJournal::new("r"));
    let error = finish(run, 5).await.unwrap_err().to_string();
    assert!(error.contains("by a `send` node"), "{error}");
}

#[tokio::test]
async fn a_node_sends_to_an_address_that_it_keeps() {
    let (address, mut mailbox) = SUMS.open(1);
    let send =
        cogwork_flow::from_exec_with(address, async |address, n: u32| address.send(&n).await);
    let flow = Flow::from_node("send", send).unwrap();

    let mut n = 5;
    let (sent, received) = tokio::join!(flow.run(&mut n), mailbox.receive());
    sent.unwrap();
    assert_eq!(received, Some(5));
}
