//! Workers, each in a runtime of its own, so that one can be dropped as if it had been killed.

use std::net::SocketAddr;
use std::time::Duration;

use cogwork_restate::restate_sdk::endpoint::{Builder, Endpoint, ServiceOptions};
use cogwork_restate::restate_sdk::service::IntoServiceDefinition;
use cogwork_restate::{HttpServer, Workflow};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub(crate) struct Worker {
    pub(crate) port: u16,
    runtime: Option<Runtime>,
}

impl Worker {
    /// Serves an endpoint at any port.
    pub(crate) fn start(endpoint: Endpoint) -> Self {
        Self::start_at(0, endpoint)
    }

    pub(crate) fn start_at(port: u16, endpoint: Endpoint) -> Self {
        let server = HttpServer::new(endpoint);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();

        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = {
            let _entered = runtime.enter();
            let listener = std::net::TcpListener::bind(address).unwrap();
            listener.set_nonblocking(true).unwrap();
            TcpListener::from_std(listener).unwrap()
        };
        let port = listener.local_addr().unwrap().port();

        let forever = std::future::pending::<()>();
        runtime.spawn(server.serve_with_cancel(listener, forever));
        Self {
            port,
            runtime: Some(runtime),
        }
    }

    /// Drops everything the worker does, wherever it is.
    pub(crate) fn kill(mut self) {
        let runtime = self.runtime.take().unwrap();

        // A runtime may not wait for another one on its own threads.
        let stopped = std::thread::spawn(|| runtime.shutdown_timeout(Duration::from_secs(5)));
        stopped.join().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Binds a workflow that Restate calls again soon after a failure.
pub(crate) fn bind<S>(builder: Builder, workflow: Workflow<S>) -> Builder
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    builder.bind(workflow.into_service_definition().options(impatient()))
}

pub(crate) fn endpoint<S>(workflow: Workflow<S>) -> Endpoint
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    bind(Endpoint::builder(), workflow).build()
}

fn impatient() -> ServiceOptions {
    ServiceOptions::new()
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(1.2)
        .retry_policy_max_interval(Duration::from_millis(500))
        .retry_policy_max_attempts(1_000)
}
