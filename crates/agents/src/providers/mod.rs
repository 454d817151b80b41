//! The providers that are part of the crate.

mod offline;
mod rules;
#[cfg(feature = "http")]
mod servers;

use crate::Provider;

pub(crate) fn built_in() -> Vec<Provider> {
    let offline = [offline::scripted(), rules::provider()];
    #[cfg(feature = "http")]
    let servers = servers::all();
    #[cfg(not(feature = "http"))]
    let servers = [];

    offline.into_iter().chain(servers).collect()
}
