//! Polls a run until it waits for the host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Wake, Waker};

use cogwork_ask::read_inline;
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;

/// The runtime of the timers of all runs. Nothing drives it, so no timer fires: how long the host
/// takes is measured from the record. It outlives the server's runtime, which may shut down while
/// a run is polled.
static TIMERS: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build());

/// A run in progress.
pub(super) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls a run.
pub(super) struct Machine {
    running: Option<Running>,
    woken: Arc<Woken>,
    waker: Waker,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Machine {
    pub(super) fn new(run: impl Future<Output = ()> + Send + 'static) -> Self {
        let woken = Arc::<Woken>::default();

        Self {
            // Texts are read inline, and the scheduler does not interrupt the run, so a run that
            // is pending and not woken waits for the host.
            running: Some(Box::pin(unconstrained(read_inline(run)))),
            waker: Waker::from(Arc::clone(&woken)),
            woken,
        }
    }

    /// Polls the run until it ends or waits for the host. This may take as long as reading a reply
    /// does, so it must be called on a thread for blocking work.
    pub(super) fn settle(&mut self) {
        let _timers = TIMERS.as_ref().ok().map(Runtime::enter);
        let mut context = Context::from_waker(&self.waker);
        let Some(running) = &mut self.running else {
            return;
        };

        loop {
            self.woken.0.store(false, Ordering::SeqCst);
            if running.as_mut().poll(&mut context).is_ready() {
                self.running = None;
                return;
            }
            if !self.woken.0.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }
}
