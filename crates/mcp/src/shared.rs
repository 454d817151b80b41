use std::sync::Arc;

use rmcp::model::ServerConfig;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ServerLimits;
use crate::solve::Tasks;
use crate::store::SessionStore;
use crate::tools::ServerTools;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) info: ServerConfig,
    pub(crate) tools: ServerTools,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) limits: ServerLimits,
    pub(crate) store: SessionStore,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: Tasks,
}
