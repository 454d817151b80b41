//! Replies that are repaired during a run.

use cogwork_cot::{ChainOfThought, ConsoleReporter};
use cogwork_llm::ScriptedClient;
use cogwork_typed::ask::RepairKind;
use insta::assert_snapshot;

use crate::node::support::{assert_survives_saving, solve};

/// Three faults, none of them in doubt.
const FAULTY: &str = "\
```yaml
current_thinking: Evaluation of thought #1: right.
planning:
- description: Add
  status: done
next_thought_needed: no
```";

#[tokio::test]
async fn a_reply_is_repaired_instead_of_asked_for_again_and_the_trace_says_so() {
    let client = ScriptedClient::new([FAULTY]);
    let out = crate::node::reporting::Screen::default();
    let node = ChainOfThought::new(client.clone());
    let reasoning = solve(node.with_reporter(ConsoleReporter::to(out.clone()))).await;

    assert_eq!(client.requests().len(), 1);
    let solution = "Evaluation of thought #1: right.";
    assert_eq!(reasoning.solution(), Some(solution));
    let said = "\nThe reply was read after 3 repairs.\n";
    assert!(out.text().contains(said), "{}", out.text());
    let trace = &reasoning.thoughts()[0].trace;

    // The raw text stays as the model gave it.
    assert_eq!(trace.tries[0].reply, FAULTY);
    use RepairKind::{Form, Quotes, TruthValue};
    let kinds = trace
        .repairs
        .iter()
        .map(|repair| (repair.kind, repair.line));
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, [(Quotes, 2), (Form, 5), (TruthValue, 6)]);
    assert_survives_saving(&reasoning);
    assert_snapshot!(serde_json::to_string(&trace.repairs[1]).unwrap(), @r#"{"kind":"form","line":5,"what":"`/planning/0/status`: read the text \"done\" as \"Done\""}"#);
}
