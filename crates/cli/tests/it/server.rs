//! A local server that speaks OpenAI's chat completions, and counts the calls.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What the server does with a call.
pub(crate) enum Reply {
    /// Streams these pieces.
    Pieces(Vec<String>),
    /// Refuses the call with this message.
    Refusal(String),
    /// Never replies.
    Silence,
}

impl Reply {
    pub(crate) fn text(text: &str) -> Self {
        Self::Pieces(vec![text.to_owned()])
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    calls: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server. `reply` gets the number of the call, starting at 1, and the request.
    pub(crate) fn new(reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let reply = Arc::new(reply);

        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let calls = Arc::clone(&counted);
                let reply = Arc::clone(&reply);
                thread::spawn(move || answer(stream, &calls, &*reply));
            }
        });

        Self { address, calls }
    }

    /// Returns the settings of a node that asks this server.
    pub(crate) fn config(&self) -> String {
        let address = self.address;
        format!("provider: openai, name: m, base_url: 'http://{address}/v1', retries: 0")
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream, calls: &AtomicUsize, reply: &dyn Fn(usize, &str) -> Reply) {
    let Some(request) = request(&mut stream) else {
        return;
    };
    let number = calls.fetch_add(1, Ordering::SeqCst) + 1;

    let pieces = match reply(number, &request) {
        Reply::Pieces(pieces) => pieces,
        Reply::Refusal(message) => {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            let head =
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close";
            let length = body.len();
            let reply = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(reply.as_bytes());
            return;
        }
        Reply::Silence => {
            // The test ends before this.
            thread::sleep(Duration::from_secs(600));
            return;
        }
    };

    let mut body = String::new();
    for piece in pieces {
        let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
        body.push_str(&format!("data: {delta}\n\n"));
    }
    body.push_str(
        "data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n",
    );
    body.push_str("data: [DONE]\n\n");

    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// Reads a request with its body.
pub(crate) fn request(stream: &mut TcpStream) -> Option<String> {
    let mut seen = Vec::new();
    let mut buffer = [0; 8192];

    loop {
        let text = String::from_utf8_lossy(&seen).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let (_, length) = head.split_once("content-length: ")?;
            let length: usize = length.lines().next()?.trim().parse().ok()?;
            if body.len() >= length {
                return Some(body.to_owned());
            }
        }

        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        seen.extend_from_slice(&buffer[..read]);
    }
}
