//! A server over HTTP for the conformance suite of the protocol, which sends no tokens.
//!
//! `scripts/check-mcp.d/conformance` runs it. The suite calls tools, resources and prompts by certain
//! names, which a handler adds to the built-in ones. Everything but the token and the handler is as
//! in `cogwork mcp --http`.

mod asking;
mod contents;
mod fixture;
mod prompts;
mod resources;
mod state;
mod tasks;
mod tools;

use std::net::SocketAddr;

use cogwork_mcp::{HttpService, HttpSettings, Server};
use fixture::Fixture;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = HttpSettings::random_token();
    let settings = HttpSettings::default().with_token(&token);
    let server = Server::builder().with_handler(Fixture::default()).open()?;
    let service = server.http_service(settings)?;
    let header = HeaderValue::from_str(&format!("Bearer {token}"))?;

    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, service.clone(), header.clone()));
    }
}

/// Serves a connection, and adds the token to each request.
async fn serve(stream: TcpStream, service: HttpService, header: HeaderValue) {
    let answer = service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
        request.headers_mut().insert(AUTHORIZATION, header.clone());
        service.clone().call(request)
    });

    let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
    if let Err(error) = serving.await {
        eprintln!("{error}");
    }
}
