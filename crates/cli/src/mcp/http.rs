//! Serves over HTTP.

use std::net::SocketAddr;

use cogwork_mcp::{HttpSettings, Server};
use tokio::net::TcpListener;

use crate::arguments::Mcp;
use crate::output::{Ended, tell};

/// The variable with the tokens. Other users of the machine could see those of a command line.
const VARIABLE: &str = "COGWORK_TOKEN";

pub(super) async fn serve(server: &Server, address: SocketAddr, arguments: &Mcp) -> Ended {
    // Before the address is printed: nobody can use it if the tokens are refused.
    let tokens = std::env::var(VARIABLE).unwrap_or_default();
    let mut settings = settings(arguments);
    for (number, token) in (1..).zip(tokens.split_whitespace()) {
        let added = settings.with_token(token);
        settings = added.map_err(|error| format!("{VARIABLE}: token {number}: {error}"))?;
    }

    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("{address} is not available: {error}"))?;
    // The port may have been chosen by the system.
    let address = listener.local_addr().unwrap_or(address);
    tell(format_args!("cogwork: serving http://{address}/mcp"));
    // A token that is sent without TLS can be read on its way.
    if !address.ip().is_loopback() {
        tell("cogwork: connections are not encrypted; use a proxy with TLS outside this machine");
    }

    if tokens.trim().is_empty() {
        let token = HttpSettings::random_token();
        tell(format_args!("cogwork: the token of this run is {token}"));
        settings = settings.with_token(&token)?;
    }
    super::serve(server, server.serve_http(listener, settings)).await
}

fn settings(arguments: &Mcp) -> HttpSettings {
    let mut settings = HttpSettings::default();
    for host in &arguments.allow_host {
        settings = settings.with_allowed_host(host);
    }
    for origin in &arguments.allow_origin {
        settings = settings.with_allowed_origin(origin);
    }
    settings
}
