//! The server that tests share, and servers that a test starts and kills.

use std::env;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::Duration;

use cogwork_restate::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Mutex;

#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) ingress: String,
    pub(crate) admin: String,
}

/// Returns the server that is running, or reports that the test is skipped.
pub(crate) fn server() -> Option<Server> {
    let found = env::var("RESTATE_INGRESS_URL").ok();
    let found = found.zip(env::var("RESTATE_ADMIN_URL").ok());
    if found.is_none() {
        skipped("RESTATE_INGRESS_URL and RESTATE_ADMIN_URL aren't set");
    }

    found.map(|(ingress, admin)| Server { ingress, admin })
}

/// Reports once that tests are skipped, past the capture of the output of tests that pass.
fn skipped(why: &str) {
    static REPORTED: Once = Once::new();

    REPORTED.call_once(|| {
        let how = "eval \"$(scripts/local-restate start)\"";
        let report = format!("tests that need Restate are skipped, because {why}; run: {how}\n");
        std::io::stderr().write_all(report.as_bytes()).unwrap();
    });
}

impl Server {
    pub(crate) fn client(&self, workflow: &str) -> Client {
        Client::new(&self.ingress, workflow).unwrap()
    }

    /// Registers the worker at this port.
    pub(crate) async fn register(&self, port: u16) {
        // The server gives up when too many deployments are registered at once.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
        let _turn = ONE_AT_A_TIME.lock().await;

        let uri = format!("http://127.0.0.1:{port}");
        let body = json!({ "uri": uri, "force": true });
        let url = format!("{}/deployments", self.admin);
        let response = http().post(url).json(&body).send().await;

        let response = response.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{status}: {text}");
    }

    /// Returns the rows of a query to the server's tables.
    pub(crate) async fn query(&self, query: &str) -> Vec<serde_json::Value> {
        let request = http()
            .post(format!("{}/query", self.admin))
            .header("accept", "application/json")
            .json(&json!({ "query": query }));
        let answer: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
        answer["rows"].as_array().cloned().unwrap_or_default()
    }

    /// Returns the registered services whose names have this prefix.
    pub(crate) async fn services(&self, prefix: &str) -> Vec<serde_json::Value> {
        let answer = http().get(format!("{}/services", self.admin)).send().await;
        let mut answer: serde_json::Value = answer.unwrap().json().await.unwrap();
        let mut services = answer["services"]
            .as_array_mut()
            .map(std::mem::take)
            .unwrap();

        services.retain(|service| service["name"].as_str().unwrap().starts_with(prefix));
        services
    }

    async fn is_ready(&self) -> bool {
        let http = http();
        for url in [
            format!("{}/restate/health", self.ingress),
            format!("{}/health", self.admin),
        ] {
            let answer = http.get(url).timeout(Duration::from_secs(1)).send().await;
            if !answer.is_ok_and(|answer| answer.status().is_success()) {
                return false;
            }
        }

        true
    }
}

/// A server of one test.
pub(crate) struct OwnServer {
    pub(crate) server: Server,
    ports: [u16; 3],
    folder: TempDir,
    child: Option<Child>,
}

impl OwnServer {
    /// Starts a server with an empty store, or reports that the test is skipped.
    pub(crate) async fn start() -> Option<Self> {
        if env::var("RESTATE_SERVER").is_err() {
            skipped("RESTATE_SERVER isn't set");
            return None;
        }

        let ports = [free_port(), free_port(), free_port()];
        let mut own = Self {
            server: Server {
                ingress: format!("http://127.0.0.1:{}", ports[0]),
                admin: format!("http://127.0.0.1:{}", ports[1]),
            },
            ports,
            folder: tempfile::tempdir().unwrap(),
            child: None,
        };
        own.start_again().await;
        Some(own)
    }

    pub(crate) async fn start_again(&mut self) {
        let command = Command::new(env::var("RESTATE_SERVER").unwrap());
        self.child = Some(spawn(command, self.ports, self.folder.path()));
        for _ in 0..300 {
            if self.server.is_ready().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }

        panic!("the server wasn't ready after 30 seconds");
    }

    /// Kills the server with signal 9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(mut command: Command, ports: [u16; 3], folder: &Path) -> Child {
    let [ingress, admin, node] = ports;
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
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Returns an HTTP client, which needs a crypto provider even without TLS.
fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
