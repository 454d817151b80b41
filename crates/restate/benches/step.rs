//! The time of a recorded step, compared with a bare `ctx.run` of the SDK, side by side.
//!
//! ```console
//! $ eval "$(scripts/local-restate start)"
//! $ cargo bench -p cogwork-restate --bench step
//! ```

use std::env;
use std::error::Error;
use std::time::Instant;

use bare::Bare;
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_restate::restate_sdk::endpoint::Endpoint;
use cogwork_restate::{Client, HttpServer, Workflow};
use serde_json::json;
use tokio::net::TcpListener;

const STEPS: u32 = 200;
const ROUNDS: usize = 61;

/// How many runs are executed at once.
const AT_ONCE: u32 = 50;

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
        |count, counted| {
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

/// Returns how many seconds a run takes.
async fn took(client: &Client, key: &str) -> Result<f64, Box<dyn Error>> {
    let began = Instant::now();
    client.start(key, &0).await?;
    let count: u32 = client.attach(key).await?;

    assert_eq!(count, STEPS);
    Ok(began.elapsed().as_secs_f64())
}

/// Returns the quartiles.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let quartile = |number: usize| {
        let index = values.len().saturating_sub(1) * number / 4;
        values.get(index).copied().unwrap_or(f64::NAN)
    };
    [quartile(1), quartile(2), quartile(3)]
}

/// Returns the entries in the server's journal of the last run of a workflow, and their bytes, for each
/// step.
async fn entries(admin: &str, workflow: &str) -> Result<String, Box<dyn Error>> {
    let query = format!(
        "select count(*) as entries, sum(raw_length) as bytes from sys_journal \
         where id = (select id from sys_invocation where target_service_name = '{workflow}' \
         order by created_at desc limit 1)"
    );
    let request = reqwest::Client::new()
        .post(format!("{admin}/query"))
        .header("accept", "application/json")
        .json(&json!({ "query": query }));
    let answer: serde_json::Value = request.send().await?.error_for_status()?.json().await?;

    let each = |column: &str| {
        let count = answer.pointer(&format!("/rows/0/{column}"));
        count
            .and_then(serde_json::Value::as_f64)
            .unwrap_or(f64::NAN)
            / f64::from(STEPS)
    };
    let entries = each("entries");
    let bytes = each("bytes");
    Ok(format!(
        "{entries:.2} entries and {bytes:.0} bytes per step"
    ))
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
        // The first one of a pair changes, so that neither is always the later one.
        let key = format!("{port}-{}-{round}", std::process::id());
        if round % 2 == 0 {
            bare_times.push(took(&bare, &key).await?);
            flow_times.push(took(&flow, &key).await?);
        } else {
            flow_times.push(took(&flow, &key).await?);
            bare_times.push(took(&bare, &key).await?);
        }
    }

    let pairs = flow_times.iter().zip(&bare_times);
    let [low, ratio, high] = quartiles(pairs.map(|(flow, bare)| flow / bare).collect());
    let micros = |times: Vec<f64>| quartiles(times)[1] * 1e6 / f64::from(STEPS);
    println!("{ROUNDS} pairs of runs of {STEPS} steps each, medians");
    println!("bare ctx.run:  {:.0} µs per step", micros(bare_times));
    println!("recorded step: {:.0} µs per step", micros(flow_times));
    println!("recorded step / bare ctx.run: {ratio:.2} ({low:.2} to {high:.2})");
    println!(
        "journal, bare ctx.run:  {}",
        entries(&admin, "BareSteps").await?
    );
    println!(
        "journal, recorded step: {}",
        entries(&admin, "FlowSteps").await?
    );
    println!(
        "{AT_ONCE} runs at once: {:.0} steps/s",
        throughput(&flow, port).await?
    );
    Ok(())
}

/// Executes several runs at once. Returns how many steps are recorded per second.
async fn throughput(client: &Client, port: u16) -> Result<f64, Box<dyn Error>> {
    let began = Instant::now();
    let runs = (0..AT_ONCE).map(|number| {
        let key = format!("{port}-{}-at-once-{number}", std::process::id());
        async move { took(client, &key).await }
    });
    futures_util::future::try_join_all(runs).await?;

    let steps = f64::from(AT_ONCE) * f64::from(STEPS);
    Ok(steps / began.elapsed().as_secs_f64())
}
