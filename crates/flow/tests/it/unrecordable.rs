//! Outcomes that a record cannot carry are refused before they are recorded.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::engine::OutcomeProblem;
use cogwork_flow::{BoxError, Flow, Node, from_phases};
use insta::assert_snapshot;
use lines::Lines;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

type Calls = Arc<AtomicUsize>;

/// Brings what `make` makes, counts its calls, and keeps what `post` sees as text.
fn brings<T, F>(calls: &Calls, make: F) -> impl Node<Vec<String>> + use<T, F>
where
    T: std::fmt::Debug + Serialize + DeserializeOwned + Send + 'static,
    F: Fn() -> T + Send + Sync + 'static,
{
    let calls = Arc::clone(calls);
    from_phases(
        |_: &mut Vec<String>| (),
        move |()| {
            calls.fetch_add(1, Ordering::SeqCst);
            let made = make();
            async { Ok::<_, BoxError>(made) }
        },
        |seen, brought| seen.push(format!("{brought:?}")),
    )
}

fn flow(node: impl Node<Vec<String>> + 'static) -> Flow<Vec<String>> {
    Flow::builder("f")
        .node("bring", node)
        .chain(["bring"])
        .build()
        .unwrap()
}

#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Point {
    x: u8,
}

#[derive(Debug, Serialize, Deserialize)]
struct Deep {
    inner: Option<Box<Deep>>,
}

#[tokio::test]
async fn what_cannot_be_read_back_is_refused_before_it_is_recorded() {
    async fn refused(node: impl Node<Vec<String>> + 'static) -> String {
        let flow = flow(node);
        let lines = Lines::default();
        let mut seen = vec![];
        let error = lines.run(&flow, &mut seen).await.unwrap_err();

        assert!(matches!(
            error.downcast_ref(),
            Some(OutcomeProblem::NotRecordable(_))
        ));
        assert!(
            !lines.text().contains("outcome\":{"),
            "nothing is recorded: {}",
            lines.text()
        );

        assert_eq!(seen, [""; 0]);
        flow.run(&mut seen).await.unwrap();
        assert_eq!(seen.len(), 1, "without a journal it is used as it is");

        error.to_string()
    }

    let calls = Calls::default();
    assert_snapshot!(refused(brings(&calls, || f64::NAN)).await, @"flow `f`, node `bring`: exec failed: the outcome cannot be read back unchanged: invalid type: null, expected f64 at line 1 column 4");
    assert_snapshot!(refused(brings(&calls, || HashMap::from([(Point { x: 1 }, 2)]))).await, @"flow `f`, node `bring`: exec failed: the outcome cannot be read back unchanged: key must be a string");
    let deep = || {
        (0..200).fold(Deep { inner: None }, |deep, _| Deep {
            inner: Some(Box::new(deep)),
        })
    };

    assert_snapshot!(refused(brings(&calls, deep)).await, @"flow `f`, node `bring`: exec failed: the outcome cannot be read back unchanged: recursion limit exceeded at line 1 column 1144");
}

/// What serde leaves out is not there in a replay, so it is not there at first either.
#[tokio::test]
async fn post_sees_the_same_at_first_and_in_a_replay() {
    #[derive(Debug, Serialize, Deserialize)]
    #[expect(dead_code, reason = "`Debug` reads it")]
    struct Partly {
        kept: u8,
        #[serde(skip)]
        left_out: u8,
        #[serde(default, rename(serialize = "other"))]
        renamed: u8,
    }

    let calls = Calls::default();
    let lines = Lines::default();
    let flow = flow(brings(&calls, || Partly {
        kept: 1,
        left_out: 2,
        renamed: 3,
    }));

    let mut first = vec![];
    let mut again = vec![];
    let mut plain = vec![];
    lines.run(&flow, &mut first).await.unwrap();

    lines.run(&flow, &mut again).await.unwrap();

    assert_eq!((&first, calls.load(Ordering::SeqCst)), (&again, 1));
    assert_snapshot!(first[0], @"Partly { kept: 1, left_out: 0, renamed: 0 }");
    flow.run(&mut plain).await.unwrap();
    assert_snapshot!(plain[0], @"Partly { kept: 1, left_out: 2, renamed: 3 }");
}

/// A service's own JSON may have many lines; a record has one line for each step.
#[tokio::test]
async fn json_of_many_lines_goes_on_one() {
    let calls = Calls::default();
    let lines = Lines::default();
    let text = "{\r\n  \"a\": [1,\n 2],\n \"b\": \"x\\ny\"\n}";
    let flow = flow(brings(&calls, move || {
        RawValue::from_string(text.to_owned()).unwrap()
    }));
    let mut first = vec![];
    let mut again = vec![];

    lines.run(&flow, &mut first).await.unwrap();

    lines.run(&flow, &mut again).await.unwrap();

    assert_eq!((first, calls.load(Ordering::SeqCst)), (again, 1));
    assert_snapshot!(lines.text(), @r#"
    {"began":{"state":[16982195136722788476,16982195136722788476]}}
    {"outcome":{"step":"f/bring#1","outcome":{    "a": [1,  2],  "b": "x\ny" }}}
    {"ended":{"action":"default","steps":1}}
    "#);
}

#[tokio::test]
async fn an_outcome_on_record_that_is_another_nodes_cannot_be_read() {
    let calls = Calls::default();
    let lines = Lines::default();
    flow(brings(&calls, || "text".to_owned()))
        .begin()
        .with_journal(lines.journal())
        .finish(&mut vec![])
        .await
        .unwrap();

    let error = flow(brings(&calls, || 7_u8))
        .begin()
        .with_journal(lines.journal())
        .finish(&mut vec![])
        .await
        .unwrap_err();

    assert_snapshot!(error, @r#"flow `f`, node `bring`: the journal failed: the recorded outcome cannot be read: invalid type: string "text", expected u8 at line 1 column 6"#);
    assert!(error.is_journal());
}
