//! Makes a store unavailable for a while.

use std::io;
use std::path::PathBuf;

#[cfg(all(feature = "postgres", unix))]
use crate::proxy::{Network, Proxy};

/// How a store becomes unavailable.
pub(crate) enum Outage {
    /// The folder is moved.
    Folder(PathBuf),
    /// The network is cut.
    #[cfg(all(feature = "postgres", unix))]
    Network(Proxy),
}

impl Outage {
    pub(crate) fn set_available(&self, is_available: bool) -> io::Result<()> {
        match self {
            Self::Folder(folder) if is_available => {
                std::fs::rename(folder.with_extension("moved"), folder)
            }
            Self::Folder(folder) => std::fs::rename(folder, folder.with_extension("moved")),
            #[cfg(all(feature = "postgres", unix))]
            Self::Network(proxy) => {
                let network = if is_available {
                    Network::Works
                } else {
                    Network::IsCut
                };
                proxy.set(network);
                Ok(())
            }
        }
    }
}
