//! Calls that are answered without the loop of rmcp, which starts two tasks for each request and
//! sends its answer through two channels.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rmcp::model::{
    ClientRequest, GetExtensions, JsonRpcRequest, ProtocolVersion, RequestId, RequestMetaObject,
    ServerJsonRpcMessage,
};
use rmcp::service::{Peer, RequestContext, RoleServer, Service};

/// Answers requests in the task that reads them, by the same function as rmcp's loop.
///
/// Nothing is answered before rmcp has opened a session.
pub(crate) struct Direct<S> {
    service: Arc<S>,
    is_direct: fn(&S, &ClientRequest) -> bool,
    opened: Opened,
    running: FuturesUnordered<Running>,
}

/// Tells the transport that rmcp has opened the session.
#[derive(Clone, Default)]
pub(crate) struct Opened(Arc<OnceLock<OpenedBy>>);

struct OpenedBy {
    peer: Peer<RoleServer>,
    has_handshake: bool,
}

impl Opened {
    pub(crate) fn set(&self, peer: Peer<RoleServer>) {
        let opened = OpenedBy {
            // Others have no information about the client apart from that of each request.
            has_handshake: peer.peer_info().is_some(),
            peer,
        };
        // A connection is opened once.
        let _ = self.0.set(opened);
    }

    /// Returns whether requests need no metadata, and results get none.
    pub(super) fn is_legacy(&self) -> bool {
        let Some(opened) = self.0.get().filter(|opened| opened.has_handshake) else {
            return false;
        };
        let info = opened.peer.peer_info();
        info.is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28)
    }
}

/// The answer to a request.
pub(super) struct Answered {
    pub(super) id: RequestId,
    /// `None` if the request has been cancelled.
    pub(super) answer: Option<ServerJsonRpcMessage>,
}

impl<S: Service<RoleServer>> Direct<S> {
    /// `is_direct` returns whether a request ends soon in any case, and sends nothing to the client
    /// but its answer.
    pub(crate) fn new(
        service: S,
        opened: Opened,
        is_direct: fn(&S, &ClientRequest) -> bool,
    ) -> Self {
        Self {
            service: Arc::new(service),
            is_direct,
            opened,
            running: FuturesUnordered::new(),
        }
    }

    pub(super) fn opened(&self) -> Opened {
        self.opened.clone()
    }

    /// Starts a request, or returns it if it isn't one to answer here.
    pub(super) fn start(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
    ) -> Option<JsonRpcRequest<ClientRequest>> {
        let Some(OpenedBy { peer, .. }) = self.opened.0.get() else {
            return Some(request);
        };
        if !(self.is_direct)(&self.service, &request.request) {
            return Some(request);
        }

        let JsonRpcRequest { id, request, .. } = request;
        let context = RequestContext::new(id.clone(), peer.clone());
        let answer = answer(Arc::clone(&self.service), request, context);
        self.running.push(Running {
            id,
            is_cancelled: false,
            answer: Box::pin(answer),
        });
        None
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns the next answer, in the order in which they are ready. If the future is dropped,
    /// nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Answered> {
        self.running.next().await
    }

    /// Drops the answer to a request.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        // Another request may use the same id afterwards.
        let running = self.running.iter_mut();
        for request in running.filter(|request| request.id == *id) {
            request.is_cancelled = true;
        }
    }
}

async fn answer<S: Service<RoleServer>>(
    service: Arc<S>,
    mut request: ClientRequest,
    mut context: RequestContext<RoleServer>,
) -> ServerJsonRpcMessage {
    let id = context.id.clone();
    let extensions = request.extensions_mut();
    context.meta = extensions.remove::<RequestMetaObject>().unwrap_or_default();
    context.extensions = std::mem::take(extensions);

    match service.handle_request(request, context).await {
        Ok(result) => ServerJsonRpcMessage::response(result, id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}

/// A request that isn't answered yet.
struct Running {
    id: RequestId,
    is_cancelled: bool,
    answer: BoxFuture<'static, ServerJsonRpcMessage>,
}

impl Future for Running {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answered> {
        let answer = std::task::ready!(self.answer.as_mut().poll(context));
        Poll::Ready(Answered {
            id: self.id.clone(),
            answer: (!self.is_cancelled).then_some(answer),
        })
    }
}
