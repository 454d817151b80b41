//! The time of a recorded step, compared with a bare `ctx.run` of the SDK, side by side.
//!
//! ```console
//! $ eval "$(scripts/local-restate start)"
//! $ cargo bench -p cogwork-restate --bench step
//! ```

use std::env;
use std::error::Error;
use std::time::{Duration, Instant};

use bare::Bare;
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_restate::{Client, Endpoint, HttpServer, Workflow};
use serde_json::json;
use tokio::net::TcpListener;

const STEPS: u32 = 200;
const ROUNDS: usize = 61;

#[allow(missing_docs, reason = "the macro also generates clients")]
mod bare {
    use super::{STEPS, next};
    use cogwork_restate::restate_sdk::{self, prelude::*};

    /// The same steps, without a flow.
    pub(super) struct Bare;

    #[restate_sdk::workflow(name = "BareSteps")]
    impl Bare {
        #[handler]
        async fn run(&self, ctx: WorkflowContext<'_>, _: Json<u32>) -> HandlerResult<Json<u32>> {
            let mut count = 0;
            while count < STEPS {
                let counted = ctx.run(|| async { Ok(Json(next(count).await)) });
                count = counted.name(format!("step {count}")).await?.into_inner();
            }
            Ok(Json(count))
        }
    }
}

async fn next(count: u32) -> u32 {
    count + 1
}

fn flow() -> Result<Flow<u32>, Box<dyn Error>> {
    let step = from_phases(
        |count: &mut u32| *count,
        |count| async move { Ok::<_, std::io::Error>(next(count).await) },
        |count, _, counted| {
            *count = counted;
            Action::from_static(if *count < STEPS { "again" } else { "done" })
        },
    );

    let flow = Flow::builder("steps")
        .start("step")
        .node("step", step.with_actions(["again", "done"]))
        .edge("step", "again", "step")
        .end("step", "done")
        .build()?;
    Ok(flow)
}

async fn register(admin: &str, port: u16) -> Result<(), Box<dyn Error>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let body = json!({ "uri": format!("http://127.0.0.1:{port}"), "force": true });
    let url = format!("{admin}/deployments");

    let answer = reqwest::Client::new().post(url).json(&body).send().await?;
    answer.error_for_status()?;
    Ok(())
}

/// Returns how long a run takes.
async fn took(client: &Client, key: &str) -> Result<Duration, Box<dyn Error>> {
    let began = Instant::now();
    client.start(key, &0).await?;
    let count: u32 = client.attach(key).await?;

    assert_eq!(count, STEPS);
    Ok(began.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the shortest time in seconds, which is the least disturbed by other programs.
fn fastest(times: &[Duration]) -> f64 {
    let fastest = times.iter().min().copied().unwrap_or_default();
    fastest.as_secs_f64()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let addresses = env::var("RESTATE_INGRESS_URL")
        .ok()
        .zip(env::var("RESTATE_ADMIN_URL").ok());
    let Some((ingress, admin)) = addresses else {
        println!("skipped, because RESTATE_INGRESS_URL and RESTATE_ADMIN_URL aren't set");
        return Ok(());
    };

    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    let workflow = Workflow::new("FlowSteps", flow()?)?.with_max_steps(STEPS.into());
    let endpoint = Endpoint::builder().bind(Bare).bind(workflow).build();
    tokio::spawn(HttpServer::new(endpoint).serve(listener));
    register(&admin, port).await?;

    let bare = Client::new(&ingress, "BareSteps")?;
    let flow = Client::new(&ingress, "FlowSteps")?;
    let mut bare_times = Vec::new();
    let mut flow_times = Vec::new();
    for round in 0..ROUNDS {
        let key = format!("{port}-{}-{round}", std::process::id());
        bare_times.push(took(&bare, &key).await?);
        flow_times.push(took(&flow, &key).await?);
    }

    let fastest = fastest(&flow_times) / fastest(&bare_times);
    let bare = median(bare_times) / STEPS;
    let flow = median(flow_times) / STEPS;
    println!("{ROUNDS} runs of {STEPS} steps each, medians per step");
    println!("bare ctx.run:  {bare:?}");
    println!(
        "recorded step: {flow:?}, {:.2} times; the fastest runs: {fastest:.2} times",
        flow.as_secs_f64() / bare.as_secs_f64()
    );
    Ok(())
}
