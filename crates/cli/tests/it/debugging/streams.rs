//! Replies as they grow, and the result as JSON.

use std::io::Write;
use std::net::TcpListener;

use crate::server::{Reply, Server, request};
use crate::support::{Place, Told};

#[test]
fn a_stream_shows_replies_as_they_grow_without_secrets() {
    let secret = "canary-87310123456789";
    let text = format!(
        "{}{secret}{}",
        "The sea. ".repeat(50),
        " The end.".repeat(50)
    );
    let pieces: Vec<_> = text.chars().map(String::from).collect();
    let server = Server::new(move |_, _| Reply::Pieces(pieces.clone()));
    let config = server.config();
    let flow =
        format!("nodes: [{{id: a, type: agent, config: {{{config}, api_key: '${{KEY}}'}}}}]");

    let place = Place::with_flow(&flow);
    let mut command = place.run_command(&["--stream", "--input", "Go?"]);
    let told = Told::of(command.env("KEY", secret).output().unwrap());
    assert_eq!((told.code, told.out.trim_end()), (0, text.as_str()));
    assert_eq!(
        told.err,
        format!("a#1\n{}\n", text.replace(secret, "${KEY}"))
    );
}

/// The end of a text may be the beginning of a secret, and is shown when nothing can follow.
#[test]
fn a_stream_that_is_stopped_shows_all_that_was_written() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let config = format!("{{provider: openai, name: m, base_url: 'http://{address}'}}");
    let place = Place::with_flow(&format!(
        "nodes: [{{id: a, type: agent, config: {config}}}]"
    ));
    let mut command = place.run_command(&["--stream", "--input", "Go?", "--timeout", "2"]);
    let child = command.spawn().unwrap();

    let (mut stream, _) = server.accept().unwrap();
    request(&mut stream).unwrap();
    let piece = r#"{"choices": [{"index": 0, "delta": {"content": "Once upon"}}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    write!(stream, "{head}data: {piece}\n\n").unwrap();

    let told = Told::of(child.wait_with_output().unwrap());
    assert_eq!(told.code, 3, "{told:?}");
    assert!(told.err.starts_with("a#1\nOnce upon\n"), "{told:?}");
}
