//! A server on a free port, and requests as plain text.

use std::net::SocketAddr;

use cogwork_mcp::{HttpSettings, Server, ServerError, ServerLimits};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::initialize;

pub(crate) const TOKEN: &str = "the-token-of-the-first-client";
pub(crate) const OTHER: &str = "the-token-of-another-client";

/// A server that is running.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    pub(crate) serving: JoinHandle<Result<(), ServerError>>,
}

pub(crate) async fn start() -> Running {
    start_with(ServerLimits::default()).await
}

pub(crate) fn settings() -> HttpSettings {
    let settings = HttpSettings::default().with_token(TOKEN);
    let settings = settings.and_then(|settings| settings.with_token(OTHER));
    settings.expect("tokens of the right form")
}

pub(crate) async fn start_with(limits: ServerLimits) -> Running {
    let server = Server::builder().with_limits(limits).open();
    let server = server.expect("the server opens");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");

    let serving = tokio::spawn(server.serve_http(listener, settings()));
    Running {
        server,
        address,
        serving,
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A request that is not complete yet.
pub(crate) struct Post<'a> {
    address: SocketAddr,
    headers: Vec<String>,
    body: &'a str,
}

impl Running {
    /// Returns a request with the first token.
    pub(crate) fn post<'a>(&self, body: &'a str) -> Post<'a> {
        self.post_as(Some(format!("Bearer {TOKEN}")), body)
    }

    /// Returns a request with this authorization.
    pub(crate) fn post_as<'a>(&self, who: Option<String>, body: &'a str) -> Post<'a> {
        let headers = who.map(|who| format!("Authorization: {who}"));
        Post {
            address: self.address,
            headers: headers.into_iter().collect(),
            body,
        }
    }

    /// Initializes, and returns the header of the session.
    pub(crate) async fn session(&self) -> String {
        let answer = self.post(&initialize().to_string()).send().await;
        let session = answer.header("mcp-session-id").expect("a session");
        format!("Mcp-Session-Id: {session}")
    }
}

impl Post<'_> {
    pub(crate) fn header(mut self, header: impl Into<String>) -> Self {
        self.headers.push(header.into());
        self
    }

    pub(crate) async fn send(self) -> Answer {
        self.send_as("POST", "/mcp").await
    }

    pub(crate) async fn send_as(self, method: &str, path: &str) -> Answer {
        let mut stream = connect(self.address).await;
        let text = self.text(method, path);
        // The server may refuse a request before it has read all of it.
        let _ = stream.write_all(&text).await;
        read(&mut stream).await
    }

    fn text(&self, method: &str, path: &str) -> Vec<u8> {
        let mut headers = self.headers.clone();
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            headers.push(format!("Host: {}", self.address));
        }
        headers.push("Content-Type: application/json".to_owned());
        headers.push("Accept: application/json, text/event-stream".to_owned());
        headers.push(format!("Content-Length: {}", self.body.len()));

        let headers = headers.join("\r\n");
        let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}");
        format!("{head}\r\n\r\n{}", self.body).into_bytes()
    }
}

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// Reads an answer until the server closes the connection.
pub(crate) async fn read(stream: &mut TcpStream) -> Answer {
    let mut text = Vec::new();
    // What has arrived counts, even if the connection is reset afterwards.
    let _ = stream.read_to_end(&mut text).await;
    let text = String::from_utf8(text).expect("text");

    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).map(str::parse);
    Answer {
        status: status.and_then(Result::ok).unwrap_or_default(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// The headers of the question of the newer generation for what a server can do.
pub(crate) const DISCOVER: [&str; 2] = [
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: server/discover",
];
