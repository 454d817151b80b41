//! The chain-of-thought node inside a larger flow: two reasoners over parts of one state, put
//! there by `focus`, routed by action, then a report.
//!
//! ```text
//! price 48, budget 40
//! price 36, budget 40
//! 210 km for 36 euros, worked out in 17 thoughts
//! 30 steps, 9 of them thoughts about the distance
//! ```

use std::error::Error;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::{Action, BoxError, Flow, Node, from_fn};
use cogwork_quickstart::{RuleBasedClient, model};

/// The state of the program. Each reasoner only sees its own part.
struct Trip {
    distance: Reasoning,
    price: Reasoning,
    budget: f64,
    discount: bool,
    report: String,
}

/// Returns the number at the start of an answer.
fn number(reasoning: &Reasoning) -> Result<f64, String> {
    let answer = reasoning.answer().unwrap_or_default();
    let number = answer.split_whitespace().next().unwrap_or_default();
    number
        .parse()
        .map_err(|_| format!("no number in the answer `{answer}`"))
}

fn ask_price(trip: &mut Trip) -> Result<(), BoxError> {
    let distance = number(&trip.distance)?;
    let share = if trip.discount { "75% of " } else { "" };
    trip.price = Reasoning::new(format!("What is {share}({distance} * 0.2 + 6)?"));

    Ok(())
}

const AFFORDABLE: Action = Action::from_static("affordable");
const TOO_DEAR: Action = Action::from_static("too dear");

fn compare(trip: &mut Trip) -> Result<Action, BoxError> {
    let price = number(&trip.price)?;
    println!("price {price}, budget {}", trip.budget);
    Ok(if price <= trip.budget {
        AFFORDABLE
    } else {
        TOO_DEAR
    })
}

fn report(trip: &mut Trip) -> Result<(), BoxError> {
    let distance = number(&trip.distance)?;
    let price = number(&trip.price)?;
    let thoughts = trip.distance.thoughts().len() + trip.price.thoughts().len();
    trip.report = format!("{distance} km for {price} euros, worked out in {thoughts} thoughts");

    Ok(())
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let thinker = ChainOfThought::new(model(RuleBasedClient::new())?);

    let flow = Flow::builder("trip")
        .start("distance")
        .node(
            "distance",
            thinker.clone().focus(|trip: &mut Trip| &mut trip.distance),
        )
        .node("ask price", from_fn(ask_price))
        .node("price", thinker.focus(|trip: &mut Trip| &mut trip.price))
        .node(
            "compare",
            from_fn(compare).with_actions([AFFORDABLE, TOO_DEAR]),
        )
        .node(
            "take the discount",
            from_fn(|trip: &mut Trip| trip.discount = true),
        )
        .node("report", from_fn(report))
        .edge("distance", ChainOfThought::CONTINUE, "distance")
        .edge("distance", ChainOfThought::END, "ask price")
        .edge("ask price", Action::DEFAULT, "price")
        .edge("price", ChainOfThought::CONTINUE, "price")
        .edge("price", ChainOfThought::END, "compare")
        .edge("compare", AFFORDABLE, "report")
        .edge("compare", TOO_DEAR, "take the discount")
        .edge("take the discount", Action::DEFAULT, "ask price")
        .end("report", Action::DEFAULT)
        .build()?;

    let mut trip = Trip {
        distance: Reasoning::new(
            "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?",
        ),
        price: Reasoning::new(""),
        budget: 40.0,
        discount: false,
        report: String::new(),
    };

    let ended = flow.run(&mut trip).await?;
    println!("{}", trip.report);
    println!(
        "{} steps, {} of them thoughts about the distance",
        ended.steps,
        trip.distance.thoughts().len()
    );

    Ok(())
}
