//! Restate: the workers serve the flow, and share a port.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cogwork_restate::restate_sdk::endpoint::{Endpoint, ServiceOptions};
use cogwork_restate::restate_sdk::service::IntoServiceDefinition;
use cogwork_restate::{Client, HttpServer, RunProgress, Workflow};
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::sync::Mutex;

use crate::Result;
use crate::flow::{ANSWER, Story, flow};
use crate::place::{Order, Place, Record};
use crate::process::Process;
use crate::witness::{Made, Witness};

const WORKERS: usize = 3;
const WORKFLOW: &str = "Story";

pub(crate) struct Restate {
    server: Process,
    http: reqwest::Client,
    ingress: String,
    admin: String,
    client: Client,
    workers: Vec<Process>,
    /// The ids of the invocations, by run.
    invocations: Mutex<HashMap<String, String>>,
}

impl Restate {
    /// Downloads the server if necessary, and starts it with an empty store.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let [ingress, admin, node, port] = free_ports()?;
        let folder_of_worker = folder.to_string_lossy();
        let worker = || Process::worker(&["restate", &port.to_string(), &folder_of_worker]);

        // The client needs a crypto provider even without TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let restate = Self {
            http: reqwest::Client::new(),
            server: Process::start(server(folder, [ingress, admin, node])?)?,
            client: Client::new(&format!("http://127.0.0.1:{ingress}"), WORKFLOW)?,
            ingress: format!("http://127.0.0.1:{ingress}"),
            admin: format!("http://127.0.0.1:{admin}"),
            workers: (0..WORKERS).map(|_| worker()).collect::<Result<_>>()?,
            invocations: Mutex::default(),
        };
        restate.ready().await?;
        restate.register(port).await?;
        Ok(restate)
    }

    /// Waits until the server answers.
    async fn ready(&self) -> Result<()> {
        let health = format!("{}/restate/health", self.ingress);
        for _ in 0..1_200 {
            let ingress = self.http.get(&health).send().await;
            let is_up = ingress.is_ok_and(|answer| answer.status().is_success());
            if is_up && self.query("select 1").await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("the server wasn't ready after 60 seconds".into())
    }

    /// Registers the workers, as soon as they are there.
    async fn register(&self, port: u16) -> Result<()> {
        let body = json!({ "uri": format!("http://127.0.0.1:{port}") });
        let url = format!("{}/deployments", self.admin);
        for _ in 0..100 {
            let answer = self.http.post(&url).json(&body).send().await?;
            if answer.status().is_success() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err("the workers could not be registered".into())
    }

    /// Returns the progress of a run. Unlike the handler for it, this needs no worker.
    async fn progress(&self, run: &str) -> Result<Option<RunProgress>> {
        let query = format!(
            "select value_utf8 from state where service_name = '{WORKFLOW}' \
             and service_key = '{run}' and key = 'progress'"
        );
        let rows = self.query(&query).await?;
        let progress = rows.first().and_then(|row| row.get("value_utf8")?.as_str());
        Ok(progress.map(serde_json::from_str).transpose()?)
    }

    /// Returns the rows of a query to the tables of the server.
    async fn query(&self, query: &str) -> Result<Vec<Value>> {
        let request = self
            .http
            .post(format!("{}/query", self.admin))
            .header("accept", "application/json")
            .json(&json!({ "query": query }));
        let answer: Value = request.send().await?.error_for_status()?.json().await?;
        let rows = answer.get("rows").and_then(Value::as_array);
        Ok(rows.cloned().unwrap_or_default())
    }
}

impl Place for Restate {
    const FORKS: bool = false;

    async fn order(&self, order: &Order) -> Result<()> {
        let started = self.client.start(&order.run, &Story::default()).await?;
        let mut invocations = self.invocations.lock().await;
        invocations.insert(order.run.clone(), started.invocation_id);
        Ok(())
    }

    async fn tend(&self, run: &str) -> Result<Option<Story>> {
        let Some(progress) = self.progress(run).await? else {
            return Ok(None);
        };
        if progress.is_over() {
            return Ok(Some(self.client.attach(run).await?));
        }

        if let Some(wait) = progress.waits_for.filter(|wait| wait.within_ms.is_none()) {
            // Without a worker, the server keeps the answer for the next one.
            let delivered = self.client.deliver(run, &wait.event, &ANSWER);
            tokio::time::timeout(Duration::from_millis(200), delivered).await??;
        }
        Ok(None)
    }

    /// Reads the completed `run` entries of the invocation.
    async fn record(&self, run: &str) -> Result<Record> {
        let invocations = self.invocations.lock().await;
        let id = invocations.get(run).cloned().unwrap_or_default();
        let query = format!(
            "select name, raw, entry_lite_json as entry from sys_journal \
             where id = '{id}' and entry_type in ('Command: Run', 'Notification: Run')"
        );

        let mut names: HashMap<u64, String> = HashMap::new();
        let mut outcomes: HashMap<u64, String> = HashMap::new();
        for row in self.query(&query).await? {
            let text = |column| row.get(column).and_then(Value::as_str).unwrap_or_default();
            let entry: Value = serde_json::from_str(text("entry"))?;
            let id = |pointer| entry.pointer(pointer).and_then(Value::as_u64);
            if let Some(id) = id("/Command/Run/completion_id") {
                names.insert(id, text("name").to_owned());
            }
            if let Some(id) = id("/Notification/id/CompletionId") {
                outcomes.insert(id, unhex(text("raw")));
            }
        }

        let record = names.into_iter().filter_map(|(id, step)| {
            let made = Made::find(&step, outcomes.get(&id)?)?;
            Some((step, made))
        });
        Ok(record.collect())
    }

    fn workers(&mut self) -> &mut [Process] {
        &mut self.workers
    }

    async fn kill_server(&mut self) -> Result<bool> {
        self.server.kill()?;
        self.server.start_again()?;
        self.ready().await?;
        Ok(true)
    }
}

/// The program of a worker.
pub(crate) async fn work(port: &str, folder: &Path) -> Result<bool> {
    let workflow = Workflow::new(WORKFLOW, flow(&Witness::within(folder))?)?;
    let options = ServiceOptions::new()
        .retry_policy_initial_interval(Duration::from_millis(20))
        .retry_policy_exponentiation_factor(1.5)
        .retry_policy_max_interval(Duration::from_millis(500))
        .retry_policy_max_attempts(10_000);
    let service = workflow.into_service_definition().options(options);
    let endpoint = Endpoint::builder().bind(service).build();

    // The system distributes connections to all workers at the port.
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], port.parse()?)))?;
    HttpServer::new(endpoint).serve(socket.listen(128)?).await;
    Ok(true)
}

fn server(folder: &Path, [ingress, admin, node]: [u16; 3]) -> Result<Command> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/local-restate");
    let fetch = Command::new(script)
        .arg("fetch")
        .stderr(Stdio::inherit())
        .output()?;
    if !fetch.status.success() {
        return Err("the server of Restate could not be downloaded".into());
    }
    let program = String::from_utf8(fetch.stdout)?;

    let address = |port| format!("127.0.0.1:{port}");
    let mut command = Command::new(program.trim());
    command
        .env("RESTATE_BIND_IP", "127.0.0.1")
        .env("RESTATE_LISTEN_MODE", "tcp")
        .env("RESTATE_ADVERTISED_HOST", "127.0.0.1")
        .env("RESTATE_BIND_PORT", node.to_string())
        .env("RESTATE_INGRESS__BIND_ADDRESS", address(ingress))
        .env("RESTATE_ADMIN__BIND_ADDRESS", address(admin))
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
        .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MiB")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("RESTATE_BASE_DIR", folder.join("restate"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

fn free_ports() -> Result<[u16; 4]> {
    let mut listeners = Vec::new();
    let mut ports = [0; 4];
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        *port = listener.local_addr()?.port();
        // All are kept until the last one is found, so that they are different.
        listeners.push(listener);
    }
    Ok(ports)
}

/// Reads what is written in hexadecimal.
fn unhex(raw: &str) -> String {
    let pairs = raw.as_bytes().chunks(2);
    let bytes =
        pairs.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}
