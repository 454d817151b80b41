pub(crate) mod counted;
pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod worker;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a name that no other test has used with this server.
pub(crate) fn unique(name: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();

    format!("{name}-{:x}-{number}", now.as_nanos())
}

/// Waits until this is true, for up to 30 seconds.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, is_true: impl Fn() -> F) {
    for _ in 0..600 {
        if is_true().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    panic!("after 30 seconds, this was still not true: {what}");
}
