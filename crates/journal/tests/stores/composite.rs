//! Nodes whose calls are recorded one by one.

use cogwork_flow::engine::{recorded as call, scoped_event, wait_for};
use cogwork_flow::{Action, BoxError, Flow, Node, from_fn, idempotency_key};
use cogwork_journal::{RunStatus, StoreErrorKind};

use crate::each::{Tested, for_each_store};
use crate::work::Calls;

for_each_store! {
    a_store_lists_and_answers_a_wait_inside_exec,
    a_wait_of_a_failed_attempt_is_no_longer_listed,
}

/// Adds 5 in five calls, and what a person says if `asks`.
struct Several {
    calls: Calls,
    asks: bool,
}

impl Several {
    async fn add_one(&self, label: &str, n: u64) -> Result<u64, BoxError> {
        let outcome = call(label, || async {
            let key = idempotency_key().unwrap_or_default();
            self.calls.lock().unwrap().push(key);
            tokio::task::yield_now().await;
            Ok::<_, BoxError>(n + 1)
        });
        Ok(outcome.await?)
    }
}

impl Node<u64> for Several {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, n: &mut u64) -> Result<u64, BoxError> {
        Ok(*n)
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        let n = self.add_one("first", *n).await?;
        let three = tokio::try_join!(
            self.add_one("at once", 0),
            self.add_one("at once", 0),
            self.add_one("at once", 0),
        )?;
        let mut n = n + three.0 + three.1 + three.2;
        if self.asks {
            let answer = wait_for::<u64>("how many", "more to add", None, None).await?;
            n += answer.unwrap_or_default();
        }

        if n > 1000 {
            return Err("that is too many".into());
        }

        self.add_one("last", n).await
    }

    fn post(&self, state: &mut u64, _: u64, n: u64) -> Result<Action, BoxError> {
        *state = n;
        Ok(Action::DEFAULT)
    }
}

fn flow(calls: &Calls, asks: bool) -> Flow<u64> {
    let several = |asks| Several {
        calls: Calls::clone(calls),
        asks,
    };
    let again = from_fn(|n: &mut u64| Action::from_static(if *n < 10 { "more" } else { "enough" }));

    Flow::builder("several")
        .start("add")
        .node("add", several(false))
        .node("again", again.with_actions(["more", "enough"]))
        .node("ask", several(asks))
        .edge("add", Action::DEFAULT, "again")
        .edge("again", "more", "add")
        .edge("again", "enough", "ask")
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

async fn a_store_lists_and_answers_a_wait_inside_exec<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&calls, true);
    let journal = store.start("a", &flow, &0).await.unwrap();

    let mut n: u64 = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    let paused = run.finish(&mut n).await.unwrap_err().into_paused().unwrap();
    assert_eq!(paused.step.to_string(), "several/ask#5.1/how many.1");
    drop(run);

    let runs = store.runs().await.unwrap();
    let RunStatus::Paused { waits } = &runs[0].status else {
        unreachable!("{runs:?}");
    };
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].step, "several/ask#5.1/how many.1");
    assert_eq!(waits[0].event, "how many");
    assert_eq!(waits[0].why, "more to add");

    let error = store.deliver("a", "how much", &3).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::UnknownEvent, "{error}");
    store.deliver("a", "how many", &3).await.unwrap();

    let made = calls.lock().unwrap().len();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut n: u64 = journal.state().unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut n)
        .await
        .unwrap();
    assert_eq!(n, 18);
    assert_eq!(calls.lock().unwrap().len(), made + 1);
}

/// Waits, and fails at the same time in the first attempt.
struct WaitsAndFails;

impl Node<u64> for WaitsAndFails {
    type Prep = ();
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut u64) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<u64, BoxError> {
        let event = scoped_event("how many");
        let waits = async {
            let answer = wait_for::<u64>(&event, "", None, None).await?;
            Ok(answer.unwrap_or_default())
        };
        let fails = async {
            let key = call("key", || async {
                tokio::task::yield_now().await;
                Ok::<_, BoxError>(idempotency_key().unwrap_or_default())
            });
            match key.await?.contains(".1/") {
                true => Err("not yet".into()),
                false => Ok::<_, BoxError>(()),
            }
        };

        Ok(tokio::try_join!(waits, fails)?.0)
    }

    fn post(&self, state: &mut u64, (): (), n: u64) -> Result<Action, BoxError> {
        *state = n;
        Ok(Action::DEFAULT)
    }
}

async fn a_wait_of_a_failed_attempt_is_no_longer_listed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = Flow::builder("f")
        .start("n")
        .node("n", WaitsAndFails)
        .end("n", Action::DEFAULT)
        .build()
        .unwrap();

    for expected in ["not yet", "how many at f/n#1.2"] {
        let journal = store.start_or_resume("a", &flow, &0).await.unwrap();
        let mut n: u64 = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        let error = run.finish(&mut n).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }

    let runs = store.runs().await.unwrap();
    let RunStatus::Paused { waits } = &runs[0].status else {
        unreachable!("{runs:?}");
    };
    let events: Vec<_> = waits.iter().map(|wait| wait.event.as_str()).collect();
    assert_eq!(events, ["how many at f/n#1.2"]);

    let stale = store.deliver("a", "how many at f/n#1.1", &1).await;
    assert_eq!(stale.unwrap_err().kind(), StoreErrorKind::UnknownEvent);
}
