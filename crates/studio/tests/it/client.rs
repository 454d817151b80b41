//! A studio, and a client that sends requests to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use cogwork_journal::Store;
use cogwork_studio::{Flows, Runner, ServedFlow, Studio};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A studio that is served until it is dropped.
pub(crate) struct Served {
    pub(crate) host: String,
    pub(crate) token: String,
    task: JoinHandle<()>,
    /// Removed with the studio.
    folder: Option<tempfile::TempDir>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        let status = headers.split(' ').nth(1).unwrap();
        Self {
            status: status.parse().unwrap(),
            headers: headers.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.lines();
        let mut headers = lines.filter_map(|line| line.split_once(": "));
        headers.find_map(|(key, value)| (key == name).then_some(value))
    }
}

impl Served {
    pub(crate) async fn over(place: &Path) -> Self {
        Self::with_flows(place, Vec::<ServedFlow>::new()).await
    }

    pub(crate) async fn with_flows(place: &Path, flows: impl Flows) -> Self {
        Self::new(Runner::new(store(place), flows)).await
    }

    /// Returns a studio over an empty folder.
    pub(crate) async fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut served = Self::over(folder.path()).await;
        served.folder = Some(folder);
        served
    }

    pub(crate) async fn new(runner: Runner) -> Self {
        let studio = Studio::bind(runner, 0).await.unwrap();
        let url = studio.url();
        let address = url.strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();

        Self {
            host: host.to_owned(),
            token: token.to_owned(),
            task: tokio::spawn(studio.serve(std::future::pending())),
            folder: None,
        }
    }

    /// Serves a router, to whose requests the token is added.
    pub(crate) async fn router(router: Router, token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let serving = axum::serve(listener, router).into_future();
        Self {
            host,
            token: token.to_owned(),
            task: tokio::spawn(async { serving.await.unwrap() }),
            folder: None,
        }
    }

    /// Sends a request as it is, and returns the whole answer.
    pub(crate) async fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).await.unwrap();
        Answer::read(&String::from_utf8(text).unwrap())
    }

    /// Returns a request with the token, without a body.
    pub(crate) fn request(&self, path: &str, headers: &str) -> String {
        let Self { host, token, .. } = self;
        format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{headers}\r\n"
        )
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(&self.request(path, "")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        let json = "Content-Type: application/json\r\n";
        self.post_text(path, json, &body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, headers: &str, body: &str) -> Answer {
        let Self { host, token, .. } = self;
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.send(&request).await
    }

    /// Waits until a run has a status and isn't executed.
    pub(crate) async fn until(&self, run: &str, status: &str) -> Value {
        loop {
            let shown = self.get(&format!("/api/run?id={run}")).await.json();
            let has_answer = status != "ended" || !shown["run"]["answer"].is_null();
            if shown["run"]["status"] == status && has_answer {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Watches the events of a run.
    pub(crate) async fn watch(&self, path: &str, headers: &str) -> Watching {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        let request = self.request(path, headers);
        stream.write_all(request.as_bytes()).await.unwrap();
        Watching {
            stream,
            text: String::new(),
        }
    }
}

/// A browser that watches a run.
pub(crate) struct Watching {
    stream: TcpStream,
    text: String,
}

impl Watching {
    /// Reads until a text has arrived. Returns everything so far.
    pub(crate) async fn until(&mut self, wanted: &str) -> String {
        while !self.text.contains(wanted) {
            let mut part = [0; 8192];
            let length = self.stream.read(&mut part).await.unwrap();
            let text = &self.text;
            assert!(length > 0, "the stream ended before `{wanted}`: {text}");
            self.text += &String::from_utf8_lossy(&part[..length]);
        }
        self.text.clone()
    }
}

/// Returns the data of the events without a name.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    let blocks = text.split("\n\n");
    let blocks = blocks.filter(|block| !block.contains("event: "));
    let lines = blocks.flat_map(str::lines);
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

fn store(place: &Path) -> Store {
    Store::at(place.to_str().unwrap()).unwrap()
}

/// Returns the file with the events of a run in a folder of runs.
pub(crate) fn events_of(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.events"))
}
