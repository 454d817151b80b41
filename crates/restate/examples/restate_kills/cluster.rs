//! The server and the workers, as processes that can be killed.

use std::env;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cogwork_restate::restate_sdk::endpoint::{Builder, Endpoint, ServiceOptions};
use cogwork_restate::restate_sdk::service::{IntoServiceDefinition, ServiceDefinition};
use cogwork_restate::{HttpServer, Workflow};
use serde_json::json;
use tokio::net::TcpSocket;

use crate::Result;
use crate::flows;

/// A process that is started again after it was killed.
pub(crate) struct Process {
    command: Command,
    child: Child,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null());
        let child = command.spawn()?;
        Ok(Self { command, child })
    }

    /// Kills the process with signal 9, and starts it again. Returns whether it was running.
    pub(crate) fn kill(&mut self) -> Result<bool> {
        let ran = self.child.try_wait()?.is_none();
        self.child.kill().ok();
        self.child.wait()?;

        self.child = self.command.spawn()?;
        Ok(ran)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The addresses of the server.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) ingress: String,
    pub(crate) admin: String,
}

impl Server {
    /// Downloads the server if necessary, and starts it with an empty store in this folder.
    pub(crate) fn start(folder: &Path) -> Result<(Self, Process)> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/local-restate");
        let fetched = Command::new(script)
            .arg("fetch")
            .stderr(Stdio::inherit())
            .output()?;
        if !fetched.status.success() {
            return Err("the server of Restate could not be downloaded".into());
        }
        let program = String::from_utf8(fetched.stdout)?;

        let ingress = free_port()?;
        let admin = free_port()?;
        let node = free_port()?;
        let mut command = Command::new(program.trim());
        command
            .env("RESTATE_BIND_IP", "127.0.0.1")
            .env("RESTATE_LISTEN_MODE", "tcp")
            .env("RESTATE_ADVERTISED_HOST", "127.0.0.1")
            .env("RESTATE_BIND_PORT", node.to_string())
            .env(
                "RESTATE_INGRESS__BIND_ADDRESS",
                format!("127.0.0.1:{ingress}"),
            )
            .env("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}"))
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MiB")
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .env("RESTATE_BASE_DIR", folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());

        let server = Self {
            ingress: format!("http://127.0.0.1:{ingress}"),
            admin: format!("http://127.0.0.1:{admin}"),
        };
        Ok((server, Process::start(command)?))
    }

    /// Waits until the server answers.
    pub(crate) async fn ready(&self) -> Result<()> {
        let http = http();
        for _ in 0..1_200 {
            let ingress = http
                .get(format!("{}/restate/health", self.ingress))
                .send()
                .await;
            let admin = self.try_query("select 1").await;
            if ingress.is_ok_and(|answer| answer.status().is_success()) && admin.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        Err("the server wasn't ready after 60 seconds".into())
    }

    /// Registers the workers at this port.
    pub(crate) async fn register(&self, port: u16) -> Result<()> {
        let body = json!({ "uri": format!("http://127.0.0.1:{port}") });
        let url = format!("{}/deployments", self.admin);

        for _ in 0..100 {
            let answer = http().post(&url).json(&body).send().await?;
            if answer.status().is_success() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }

        Err("the workers could not be registered".into())
    }

    /// Returns the rows of a query to the tables of the server. Just after a start, some of them
    /// aren't available yet.
    pub(crate) async fn query(&self, query: &str) -> Result<Vec<serde_json::Value>> {
        for _ in 0..600 {
            if let Ok(rows) = self.try_query(query).await {
                return Ok(rows);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        self.try_query(query).await
    }

    async fn try_query(&self, query: &str) -> Result<Vec<serde_json::Value>> {
        let request = http()
            .post(format!("{}/query", self.admin))
            .header("accept", "application/json")
            .json(&json!({ "query": query }));
        let answer: serde_json::Value = request.send().await?.error_for_status()?.json().await?;

        let rows = answer.get("rows").and_then(|rows| rows.as_array());
        Ok(rows.cloned().unwrap_or_default())
    }
}

/// Starts this program again, as a worker. Several may serve the same port.
pub(crate) fn worker(port: u16, calls: &Path) -> Result<Process> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["worker", &port.to_string()]).arg(calls);
    Process::start(command)
}

/// The program of a worker.
pub(crate) async fn serve(port: u16, calls: PathBuf) -> Result<()> {
    let solver = flows::strategy(&calls)?;
    let builder = Endpoint::builder();
    let builder = bind(builder, Workflow::new("Thought", flows::thought(&calls))?);
    let builder = bind(builder, Workflow::new("Strategy", solver.into_flow()?)?);
    let builder = bind(builder, Workflow::new("Agents", flows::agents(&calls)?)?);
    let builder = bind(builder, Workflow::new("Survey", flows::survey(&calls)?)?);

    // The system distributes connections to all workers at the port.
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
    HttpServer::new(builder.build())
        .serve(socket.listen(128)?)
        .await;
    Ok(())
}

fn bind(builder: Builder, service: impl IntoServiceDefinition) -> Builder {
    let service: ServiceDefinition = service.into_service_definition();
    let options = ServiceOptions::new()
        .retry_policy_initial_interval(Duration::from_millis(20))
        .retry_policy_exponentiation_factor(1.5)
        .retry_policy_max_interval(Duration::from_millis(500))
        .retry_policy_max_attempts(10_000);
    builder.bind(service.options(options))
}

pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// Returns an HTTP client, which needs a crypto provider even without TLS.
fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
