//! A server of Restate that speaks a different version of the protocol. These tests need no server.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cogwork_restate::Workflow;
use hyper::body::{Body, Frame};
use hyper::{Request, Response};

use crate::support::counted::{Calls, flow};
use crate::support::worker::endpoint;

/// A request that ends with its head.
struct Nothing;

impl Body for Nothing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }
}

/// Sends a request to a worker, and returns the status and the body of its answer.
async fn ask(path: &str, header: (&str, &str), calls: &Calls) -> (u16, String) {
    let flow = flow(calls, Duration::ZERO, 1);
    let endpoint = endpoint(Workflow::new("Versions", flow).unwrap());
    let request = Request::builder()
        .uri(format!("http://worker{path}"))
        .header(header.0, header.1)
        .body(Nothing)
        .unwrap();

    let response = endpoint.handle(request);
    let status = response.status().as_u16();
    (status, text(response).await)
}

async fn text(response: Response<impl Body<Data = Bytes, Error: std::fmt::Debug>>) -> String {
    let mut body = Box::pin(response.into_body());
    let mut text = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        text.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }

    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn a_run_in_an_unknown_version_of_the_protocol_is_refused_before_any_call() {
    let calls = Calls::default();
    for version in [0, 4, 99] {
        let kind = format!("application/vnd.restate.invocation.v{version}");
        let (status, text) = ask("/invoke/Versions/run", ("content-type", &kind), &calls).await;

        assert_eq!(status, 415, "version {version}: {text}");
        let named = text.contains(&kind) || text.contains(&format!("version V{version},"));
        assert!(named, "version {version}: {text}");
    }

    assert!(calls.made().is_empty());
}

#[tokio::test]
async fn an_unknown_version_of_the_registration_is_refused() {
    let kind = "application/vnd.restate.endpointmanifest.v99+json";
    let (status, text) = ask("/discover", ("accept", kind), &Calls::default()).await;

    assert_eq!(status, 415, "{text}");
    assert!(text.contains(kind), "{text}");
}

#[tokio::test]
async fn a_worker_states_which_versions_it_speaks() {
    let kind = "application/vnd.restate.endpointmanifest.v4+json";
    let (status, text) = ask("/discover", ("accept", kind), &Calls::default()).await;
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();

    assert_eq!(status, 200);
    assert_eq!(manifest["minProtocolVersion"], 5);
    assert_eq!(manifest["maxProtocolVersion"], 7);
}
