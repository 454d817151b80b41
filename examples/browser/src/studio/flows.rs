//! The flows that the studio starts and resumes.

use std::sync::Arc;
use std::time::Duration;

use cogwork::agents::{FlowState, Loader};
use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::{Action, Flow, Wait, from_fn};
use cogwork_quickstart::RuleBasedClient;
use cogwork_studio::ServedFlow;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Result;

/// The name of the flow that answers a question by a chain of thought.
pub const TRAIN: &str = "chain of thought";

/// The name of the flow that asks whether to refund an order.
pub const REFUND: &str = "refund";

/// A flow in a file, with an agent and a question.
const REVIEW: &str = "
name: review
nodes:
  - id: writer
    type: agent
    config: {provider: rules, rules: [], else: The sea is a grey door that nobody closes., prompt: '{input}'}
  - id: review
    type: wait
    config: {reason: 'Publish this? {writer}', actions: [yes, no]}
edges:
  - {from: writer, to: review}
  - {from: review, action: yes, to: end}
  - {from: review, action: no, to: writer}
";

/// An order whose refund is decided by a person.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Refund {
    /// What was ordered.
    pub order: String,
    /// The decision.
    pub decision: Value,
}

/// Returns the flows, each of whose runs is recorded.
///
/// # Errors
///
/// Returns an error if a flow is wrong.
pub(super) fn flows() -> Result<Vec<ServedFlow>> {
    let client = RuleBasedClient::new().with_delay(Duration::from_millis(400));
    let train = ServedFlow::new(
        ChainOfThought::new(client).into_flow(),
        |input| Ok(Reasoning::new(text(&input))),
        |reasoning: &Reasoning| reasoning.answer().map(str::to_owned),
    );

    let refund = ServedFlow::new(
        refund()?,
        |input| {
            Ok(Refund {
                order: text(&input),
                decision: Value::Null,
            })
        },
        |refund: &Refund| Some(refund.decision.to_string()),
    );

    let loaded = Arc::new(Loader::new().load_text("review.yaml", REVIEW)?);
    let review = ServedFlow::new(
        loaded.flow().clone(),
        |input| Ok(FlowState::new(text(&input))),
        move |state: &FlowState| Some(loaded.answer(state).ok()?.text),
    );
    Ok(vec![train, refund, review])
}

fn text(input: &Value) -> String {
    input.as_str().unwrap_or_default().to_owned()
}

/// Returns the flow that asks, with a field of each kind.
fn refund() -> Result<Flow<Refund>> {
    let schema = json!({
        "type": "object",
        "title": "Decision",
        "required": ["granted", "amount", "reason"],
        "properties": {
            "granted": {"type": "boolean", "title": "Grant the refund?"},
            "amount": {"type": "integer", "minimum": 1, "maximum": 40, "title": "Amount in euros"},
            "reason": {"enum": ["damaged", "late", "other"], "title": "Reason"},
            "note": {"type": "string", "title": "Note", "description": "The customer reads this."},
            "items": {"type": "array", "items": {"type": "string", "maxLength": 40}, "title": "Items"},
        },
    });
    let wait = Wait::for_event("decision", |refund: &mut Refund, decision: Value| {
        refund.decision = decision;
    });
    let wait = wait
        .with_schema(schema)
        .with_reason(|refund| format!("A refund of {} needs a person.", refund.order));

    let flow = Flow::builder(REFUND)
        .start("check")
        .node("check", from_fn(|_: &mut Refund| ()))
        .wait("ask", wait)
        .edge("check", Action::DEFAULT, "ask")
        .end("ask", Action::DEFAULT)
        .build()?;
    Ok(flow)
}
