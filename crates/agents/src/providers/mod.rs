//! The providers that are part of the crate.

mod offline;
mod rules;
#[cfg(feature = "http")]
mod servers;

use crate::Provider;

pub(crate) fn built_in() -> Vec<Provider> {
    let mut providers = vec![offline::scripted(), rules::provider()];
    #[cfg(feature = "http")]
    providers.extend(servers::all());
    providers
}
