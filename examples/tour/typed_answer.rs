//! Typed answers: a model fills structs, in one call and as a node of a flow.
//!
//! The first reply adds up wrongly, which a check of the program complains about. The second one is
//! malformed in ways that have one meaning. The replies come from a script; with any other
//! `LlmClient`, such as `OpenAiClient`, the rest of the program stays the same.
//!
//! ```text
//! ACME: 2 lamps for 60, 1 chair for 40
//!   asked again: the items add up to 100
//!   line 1: put a text in quotes
//!   line 1: put a text in quotes
//!   line 1: `/items/0/price`: read the text "60" as a number
//!   line 1: `/priority`: read the text "HIGH" as "high"
//! 2 calls
//! the flow ended with `urgent`
//! ```

use std::error::Error;

use cogwork::flow::Flow;
use cogwork::llm::ScriptedClient;
use cogwork::typed::Model;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The company that orders.
    customer: String,
    items: Vec<Item>,
    total: f64,
    priority: Priority,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    name: String,
    count: u32,
    price: f64,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    High,
}

const MAIL: &str = "Two lamps for 60 and a chair for 40, please, as soon as possible. ACME";

const REPLIES: [&str; 2] = [
    r#"{"customer": "ACME", "items": [{"name": "lamp", "count": 2, "price": 60}, {"name": "chair", "count": 1, "price": 40}], "total": 160, "priority": "high"}"#,
    r#"{"customer": "ACME", items: [{"name": "lamp", "count": 2, "price": "60"}, {"name": "chair", "count": 1, "price": 40}], total: 100, "priority": "HIGH"}"#,
];

fn model() -> Model<Order> {
    Model::typed(ScriptedClient::new(REPLIES)).with_check(|order: &Order| {
        let sum: f64 = order.items.iter().map(|item| item.price).sum();
        if sum == order.total {
            Ok(())
        } else {
            Err(format!("the items add up to {sum}"))
        }
    })
}

#[derive(Default)]
struct Desk {
    mail: String,
    order: Option<Order>,
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    // In one call, with everything that happened.
    let answered = model().ask(format!("Read this order: {MAIL}")).await?;
    let order = &answered.value;

    let items = order.items.iter().map(|item| {
        let plural = if item.count == 1 { "" } else { "s" };
        format!("{} {}{plural} for {}", item.count, item.name, item.price)
    });
    let items: Vec<String> = items.collect();
    println!("{}: {}", order.customer, items.join(", "));

    let complaints = answered
        .log
        .tries
        .iter()
        .filter_map(|one| one.complaint.as_ref());
    complaints.for_each(|complaint| println!("  asked again: {complaint}"));
    answered
        .repairs
        .iter()
        .for_each(|repair| println!("  {repair}"));
    println!("{} calls", answered.log.spent.calls);

    // As a node, whose answer chooses the edge.
    let read = model()
        .node(
            |desk: &Desk| format!("Read this order: {}", desk.mail),
            |desk, order| {
                let is_urgent = order.priority == Priority::High;
                desk.order = Some(order);
                if is_urgent { "urgent" } else { "later" }
            },
        )
        .with_actions(["urgent", "later"]);

    let flow = Flow::builder("desk")
        .start("read")
        .node("read", read)
        .end("read", "urgent")
        .end("read", "later")
        .build()?;
    let mut desk = Desk {
        mail: MAIL.to_owned(),
        ..Desk::default()
    };
    let ended = flow.run(&mut desk).await?;
    println!("the flow ended with `{}`", ended.action);

    Ok(())
}
