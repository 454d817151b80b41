//! Runs that send messages to each other, in a process that is killed again and again.

use std::num::NonZeroU64;
use std::time::Duration;

use cogwork_flow::{Action, Address, Channel, Flow, RunError, Wait, from_fn, send};
use cogwork_journal::{FileStore, RunStatus, Store};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde::{Deserialize, Serialize};

use crate::child::{Job, Task, in_its_store, wait_until_it_runs};
use crate::each::Tested;

const TALK: Channel<Said> = Channel::new("talk");

const TELLERS: [&str; 2] = ["teller 1", "teller 2"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    by: String,
    number: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Telling {
    by: String,
    said: usize,
    total: usize,
}

fn teller() -> Flow<Telling> {
    let count = from_fn(|telling: &mut Telling| {
        if telling.said == telling.total {
            return "done";
        }

        telling.said += 1;
        "tell"
    });
    let said = |telling: &mut Telling| Said {
        by: telling.by.clone(),
        number: telling.said,
    };

    Flow::builder("teller")
        .start("count")
        .node("count", count.with_actions(["tell", "done"]))
        .edge("count", "tell", "tell")
        .end("count", "done")
        .node("tell", send(&TALK, said))
        .edge("tell", Action::DEFAULT, "count")
        .end("tell", Action::CLOSED)
        .build()
        .unwrap()
}

fn listener() -> Flow<Vec<Said>> {
    let listen = Wait::for_message(&TALK, |heard: &mut Vec<Said>, said| heard.push(said));

    Flow::builder("listener")
        .start("listen")
        .wait("listen", listen)
        .edge("listen", Action::DEFAULT, "listen")
        .end("listen", Action::CLOSED)
        .build()
        .unwrap()
}

async fn tell(
    store: &impl Store,
    by: &str,
    job: &Job,
    address: Address<Said>,
) -> Result<(), RunError> {
    let flow = teller();
    let telling = Telling {
        by: by.to_owned(),
        said: 0,
        total: job.rounds,
    };
    let journal = store.start_or_resume(by, &flow, &telling).await.unwrap();
    let mut telling: Telling = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_address(address);
    if let Some(steps) = NonZeroU64::new(job.fold_every) {
        run = run.with_fold_every(steps);
    }

    run.finish(&mut telling).await.map(drop)
}

async fn listen(
    store: &impl Store,
    job: &Job,
    mailbox: cogwork_flow::Mailbox<Said>,
) -> Result<Vec<Said>, RunError> {
    let flow = listener();
    let none: Vec<Said> = Vec::new();
    let journal = store.start_or_resume(&job.run_id, &flow, &none).await;
    let journal = journal.unwrap();
    println!("\nit runs");

    let mut heard: Vec<Said> = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_mailbox(mailbox);
    if let Some(steps) = NonZeroU64::new(job.fold_every) {
        run = run.with_fold_every(steps);
    }

    run.finish(&mut heard).await?;
    Ok(heard)
}

/// Lets all runs talk, and prints what was heard.
struct Talks;

impl Task for Talks {
    async fn execute(store: impl Store, job: &Job) {
        let (address, mailbox) = TALK.open(3);
        let talked = tokio::try_join!(
            listen(&store, job, mailbox),
            tell(&store, TELLERS[0], job, address.clone()),
            tell(&store, TELLERS[1], job, address),
        );

        match talked {
            Ok((heard, (), ())) => println!("\n{}", serde_json::to_string(&heard).unwrap()),
            Err(error) => println!("\n{error}"),
        }
    }
}

#[test]
#[ignore = "the other process of other tests"]
fn talks() {
    in_its_store::<Talks>();
}

/// Kills and restarts the process until it ends. Returns the messages and the number of kills.
fn kill_until_it_ends<S: Tested>(
    job: &Job,
    random: &mut TestRng,
    longest: Duration,
) -> (Vec<Said>, usize) {
    let store = S::within(&job.folder);

    let mut kills = 0;
    loop {
        let mut child = job.command_of("talking::talks").spawn().unwrap();
        wait_until_it_runs(&mut child);
        std::thread::sleep(random.random_range(Duration::ZERO..longest));
        child.kill().unwrap();

        let output = child.wait_with_output().unwrap();
        store.after_a_kill();

        let said = String::from_utf8(output.stdout).unwrap();
        let heard = said
            .lines()
            .find_map(|line| serde_json::from_str(line).ok());
        if let Some(heard) = heard {
            return (heard, kills);
        }

        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success(),
            "it wasn't killed: {said}{complaint}"
        );
        assert!(!complaint.contains("panicked"), "{complaint}");
        kills += 1;
        assert!(kills < 2_000, "it does not come to its end");
    }
}

/// Talks with and without folds, until there were so many kills.
fn kills<S: Tested>(at_least: usize, longest: Duration) {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut kills = 0;

    for number in 0.. {
        if kills >= at_least && number >= 2 {
            break;
        }

        let folder = tempfile::tempdir().unwrap();
        let job = Job {
            store: S::NAME,
            folder: folder.path().to_owned(),
            run_id: "listener".to_owned(),
            rounds: 60,
            fold_every: if number % 2 == 0 { 0 } else { 5 },
            slow: 0,
        };

        let (heard, more) = kill_until_it_ends::<S>(&job, &mut random, longest);
        kills += more;
        assert_eq!(heard.len(), TELLERS.len() * job.rounds);
        for by in TELLERS {
            let theirs = heard.iter().filter(|said| said.by == by);
            let numbers: Vec<_> = theirs.map(|said| said.number).collect();
            assert_eq!(numbers, (1..=job.rounds).collect::<Vec<_>>(), "{by}");
        }
    }

    println!("{kills} kills");
}

#[test]
fn a_killed_process_loses_no_message_and_reads_none_twice() {
    kills::<FileStore>(60, Duration::from_millis(15));
}

#[cfg(feature = "sqlite")]
#[test]
fn the_same_in_a_database() {
    kills::<cogwork_journal::SqliteStore>(20, Duration::from_millis(100));
}

#[cfg(feature = "postgres")]
#[test]
fn the_same_in_postgres() {
    if crate::server::url().is_some() {
        kills::<cogwork_journal::PostgresStore>(10, Duration::from_millis(200));
    }
}

#[tokio::test]
async fn a_run_that_waits_for_messages_is_listed_as_paused() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = listener();
    let none: Vec<Said> = Vec::new();
    let journal = store.start("listener", &flow, &none).await.unwrap();

    let mut heard = Vec::new();
    let paused = flow.begin().with_journal(journal).finish(&mut heard).await;
    paused.unwrap_err().into_paused().unwrap();
    let runs = store.runs().await.unwrap();
    assert!(matches!(runs[0].status, RunStatus::Paused { .. }));

    // From another process, while nobody runs it.
    let said = Said {
        by: "a person".to_owned(),
        number: 1,
    };
    store.deliver("listener", TALK.name(), &said).await.unwrap();
    let runs = store.runs().await.unwrap();
    assert_eq!(runs[0].status, RunStatus::Open);

    // There are no senders.
    let (address, mailbox) = TALK.open(1);
    drop(address);
    let journal = store.resume("listener", &flow).await.unwrap();
    let mut heard: Vec<Said> = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_mailbox(mailbox);
    assert_eq!(run.finish(&mut heard).await.unwrap().action, Action::CLOSED);
    assert_eq!(heard, [said]);
}
