//! Makes a store unavailable for a while.

#[cfg(all(feature = "postgres", unix))]
use crate::proxy::{Network, Proxy};

/// How a store becomes unavailable.
pub(crate) enum Outage {
    None,
    /// The network is cut.
    #[cfg(all(feature = "postgres", unix))]
    Network(Proxy),
}

impl Outage {
    pub(crate) fn set_available(&self, is_available: bool) {
        match (self, is_available) {
            (Self::None, _) => {}
            #[cfg(all(feature = "postgres", unix))]
            (Self::Network(proxy), true) => proxy.set(Network::Works),
            #[cfg(all(feature = "postgres", unix))]
            (Self::Network(proxy), false) => proxy.set(Network::IsCut),
        }
    }
}
