//! A run that waits for a person. It pauses, and the program ends. When it is started again with an
//! answer, it continues where it stopped, and nothing is done twice.
//!
//! ```text
//! $ cargo run --example tour -- pause_for_a_person
//! (the risk service is asked)
//! paused at refund/approval#2 for the event `approval`: 900 euros to Ada, at low risk. Is that right?
//! An answer is awaited for 72 hours.
//! Start this program again with `yes` or `no`.
//! $ cargo run --example tour -- pause_for_a_person
//! paused at refund/approval#2 for the event `approval`: 900 euros to Ada, at low risk. Is that right?
//! An answer is awaited for 72 hours.
//! Start this program again with `yes` or `no`.
//! $ cargo run --example tour -- pause_for_a_person yes
//! (the bank is asked, under the key `refund 17:refund/pay#3`)
//! 900 euros were paid to Ada (3 steps)
//! ```

use std::env;
use std::error::Error;
use std::fs;
use std::time::{Duration, SystemTime};

use cogwork::flow::{Action, Flow, Paused, Proceeded, Wait, from_fn, from_phases};
use cogwork::journal::Store;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Refund {
    customer: String,
    euros: u32,
    risk: String,
    answer: String,
}

const RUN: &str = "refund 17";

const YES: Action = Action::from_static("yes");
const NO: Action = Action::from_static("no");

/// Paid calls are made in `exec`, because its outcome is recorded before it is used.
async fn ask_risk_service(euros: u32) -> Result<String, String> {
    println!("(the risk service is asked)");
    Ok(if euros < 1_000 { "low" } else { "high" }.to_owned())
}

async fn pay((customer, euros): (String, u32)) -> Result<String, String> {
    // If a crash interrupts a call, it is repeated with the same key, so the bank pays only once.
    let key = cogwork::flow::idempotency_key().unwrap_or_default();
    println!("(the bank is asked, under the key `{key}`)");
    Ok(format!("{euros} euros were paid to {customer}"))
}

fn flow() -> Result<Flow<Refund>, Box<dyn Error>> {
    let assess = from_phases(
        |refund: &mut Refund| refund.euros,
        ask_risk_service,
        |refund, risk| refund.risk = risk,
    );

    let approval = Wait::for_event(
        "approval",
        |_: &mut Refund, granted: bool| if granted { YES } else { NO },
    )
    .with_actions([YES, NO])
    .with_reason(
        |Refund {
             customer,
             euros,
             risk,
             ..
         }| { format!("{euros} euros to {customer}, at {risk} risk. Is that right?") },
    )
    .with_timeout(Duration::from_secs(72 * 3600));

    let pay = from_phases(
        |refund: &mut Refund| (refund.customer.clone(), refund.euros),
        pay,
        |refund, receipt| refund.answer = receipt,
    );

    let flow = Flow::builder("refund")
        .start("assess")
        .node("assess", assess)
        .wait("approval", approval)
        .node("pay", pay)
        .node(
            "decline",
            from_fn(|refund: &mut Refund| refund.answer = "declined".to_owned()),
        )
        .node(
            "lapse",
            from_fn(|refund: &mut Refund| refund.answer = "nobody answered in time".to_owned()),
        )
        .edge("assess", Action::DEFAULT, "approval")
        .edge("approval", YES, "pay")
        .edge("approval", NO, "decline")
        .edge("approval", Action::TIMED_OUT, "lapse")
        .end("pay", Action::DEFAULT)
        .end("decline", Action::DEFAULT)
        .end("lapse", Action::DEFAULT)
        .build()?;

    Ok(flow)
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join("cogwork-pause-for-a-person");
    let store = Store::files(&folder);
    match env::args().nth(2).as_deref() {
        None => {}
        // Any process can do this, because it only needs the names.
        Some("yes") => store.deliver(RUN, "approval", &true).await?,
        Some("no") => store.deliver(RUN, "approval", &false).await?,
        Some(other) => return Err(format!("`{other}` is no answer: expected `yes` or `no`").into()),
    }

    let flow = flow()?;
    let refund = Refund {
        customer: "Ada".to_owned(),
        euros: 900,
        risk: String::new(),
        answer: String::new(),
    };

    let journal = store.start_or_resume(RUN, &flow, &refund).await?;
    let mut refund: Refund = journal.state()?;
    let mut run = flow.begin().with_journal(journal);
    let proceeded = run.proceed(&mut refund).await?;
    drop(run);

    match proceeded {
        Proceeded::Ended(ended) => {
            println!("{} ({} steps)", refund.answer, ended.steps);

            // Once the record is deleted, the next start begins a new run.
            fs::remove_dir_all(&folder)?;
        }
        Proceeded::Paused(paused) => show(&paused),
    }

    Ok(())
}

fn show(paused: &Paused) {
    println!("{paused}");

    if let Some(until) = paused.until {
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        let hours = left.as_secs_f64() / 3600.0;
        println!("An answer is awaited for {hours:.0} hours.");
    }

    println!("Start this program again with `yes` or `no`.");
}
