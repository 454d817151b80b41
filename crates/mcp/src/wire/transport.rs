//! The transport of rmcp over lines.
//!
//! The one that comes with rmcp drops lines that are too long or no JSON without an answer, so the
//! client waits forever; it starts a task for each request, however many there are; it loses the
//! answer to the second of two requests with one id; and it ends when the first message is a
//! notification.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    JsonRpcRequest, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, Service};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ServerLimits;

use super::direct::{Answered, Direct};
use super::in_flight::{InFlight, Place};
use super::lines::{Line, Lines};
use super::message::Incoming;
use super::outgoing::{self, Outgoing, Room, Writing};
use super::quick::{Finished, QuickCalls, QuickTool};

/// No further message is read while the requests that wait are longer than this many messages of the
/// maximum length.
const WAITING_MESSAGES: usize = 4;

/// How long direct requests may take after the end of the input, or after the server was stopped,
/// as it is in rmcp.
const AFTER_END: Duration = Duration::from_secs(5);
const AFTER_STOP: Duration = Duration::from_secs(2);

/// Messages of one client.
pub(crate) struct LineTransport<R, S, Q: QuickTool> {
    lines: Lines<R>,
    limits: ServerLimits,
    quick: QuickCalls<Q>,
    direct: Direct<S>,
    in_flight: InFlight,
    /// Requests that wait until others have been answered.
    waiting: VecDeque<JsonRpcRequest<ClientRequest>>,
    /// The length of the messages that were read since no request waited, in bytes.
    waiting_bytes: usize,
    /// Answers to messages that were refused here.
    refusals: VecDeque<ServerJsonRpcMessage>,
    /// Answers to quick calls and direct requests, with their places.
    answers: VecDeque<(Vec<u8>, Option<Place>)>,
    /// `None` when the transport is closed.
    outgoing: Option<Outgoing>,
    writing: Writing,
    is_opened: bool,
    is_at_end: bool,
}

impl<R, S, Q> LineTransport<R, S, Q>
where
    R: AsyncRead + Send + Unpin,
    S: Service<RoleServer>,
    Q: QuickTool,
{
    pub(crate) fn new<W>(
        (reader, writer): (R, W),
        direct: Direct<S>,
        quick: Option<Q>,
        limits: ServerLimits,
    ) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (outgoing, writing) = Outgoing::start(writer);
        let in_flight = InFlight::new(limits.concurrent_requests);
        Self {
            lines: Lines::new(reader, limits.message_bytes),
            limits,
            quick: QuickCalls::new(quick, direct.opened(), in_flight.clone()),
            direct,
            in_flight,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            refusals: VecDeque::new(),
            answers: VecDeque::new(),
            outgoing: Some(outgoing),
            writing,
            is_opened: false,
            is_at_end: false,
        }
    }

    /// Returns the next message to handle, or `None` if there is nothing to handle yet.
    async fn step(&mut self, outgoing: &Outgoing) -> Step {
        if !self.refusals.is_empty() {
            return Step::after(self.send_refusal(outgoing).await);
        }
        if self.is_at_end && self.waiting.is_empty() {
            return Step::End;
        }

        let may_read = !self.is_at_end && self.has_room();
        tokio::select! {
            // Messages only overtake requests that cannot start yet.
            biased;
            room = outgoing.room(), if !self.answers.is_empty() => self.send_answer(room),
            Some(finished) = self.quick.next(), if !self.quick.is_idle() => self.finished(finished),
            Some(answered) = self.direct.next(), if !self.direct.is_idle() => self.answered(answered),
            place = self.in_flight.place(), if !self.waiting.is_empty() => self.start(place),
            line = self.lines.next(), if may_read => self.take(line),
            () = outgoing.closed() => Step::End,
        }
    }

    /// Sends the first refusal. If the future is dropped, nothing is lost.
    async fn send_refusal(&mut self, outgoing: &Outgoing) -> io::Result<()> {
        let room = outgoing.room().await?;
        match self.refusals.pop_front() {
            Some(refusal) => {
                room.send(outgoing::text(&refusal)?, None);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Returns whether another message may be read.
    fn has_room(&mut self) -> bool {
        if self.waiting.is_empty() {
            self.waiting_bytes = 0;
        }

        let limits = &self.limits;
        let max_bytes = limits.message_bytes.saturating_mul(WAITING_MESSAGES);
        self.waiting.len() < limits.waiting_requests && self.waiting_bytes <= max_bytes
    }

    fn send_answer(&mut self, room: io::Result<Room<'_>>) -> Step {
        let sent = room.map(|room| {
            if let Some((answer, place)) = self.answers.pop_front() {
                room.send(answer, place);
            }
        });
        Step::after(sent)
    }

    /// Starts the request that has waited longest.
    fn start(&mut self, place: Option<Place>) -> Step {
        let Some(request) = self.waiting.pop_front() else {
            return Step::Again;
        };

        self.in_flight.start(&request.id, place);
        match self.direct.start(request) {
            Some(request) => Step::Message(Box::new(JsonRpcMessage::Request(request))),
            None => Step::Again,
        }
    }

    fn answered(&mut self, Answered { id, answer }: Answered) -> Step {
        let Some(answer) = answer else {
            return Step::Again;
        };
        let place = self.in_flight.remove(&id);
        let text = outgoing::text(&answer);
        Step::after(text.map(|text| self.answers.push_back((text, place))))
    }

    fn finished(&mut self, finished: Finished) -> Step {
        match finished {
            Finished::Answered { answers, place } => self.answers.push_back((answers, place)),
            Finished::Again { messages, place } => self.start_again(messages, place),
        }
        Step::Again
    }

    /// Starts quick calls in the usual way.
    fn start_again(&mut self, messages: Vec<(RequestId, Vec<u8>)>, mut places: Option<Place>) {
        for (id, text) in messages {
            let place = places.as_mut().and_then(|places| places.split(1));
            self.in_flight.start(&id, place);

            if let Incoming::Message(message) = Incoming::read(&text)
                && let JsonRpcMessage::Request(request) = *message
            {
                // Calls of quick tools are direct.
                self.direct.start(request);
            }
        }
    }

    /// Adds an answer to a message that is refused.
    fn refuse(&mut self, answer: ServerJsonRpcMessage) {
        self.refusals.push_back(answer);
    }

    /// Sends what is still to be answered here.
    async fn finish(&mut self, outgoing: &Outgoing) -> io::Result<()> {
        while !self.refusals.is_empty() {
            self.send_refusal(outgoing).await?;
        }
        loop {
            while let Some((answer, place)) = self.answers.pop_front() {
                outgoing.room().await?.send(answer, place);
            }
            tokio::select! {
                Some(finished) = self.quick.next() => self.finished(finished),
                Some(answered) = self.direct.next() => self.answered(answered),
                else => return Ok(()),
            };
        }
    }

    fn take(&mut self, line: Line) -> Step {
        match line {
            Line::End => self.is_at_end = true,
            Line::TooLong(id) => {
                self.refuse(Incoming::too_long(id, self.limits.message_bytes));
            }
            Line::Whole(text) if self.carry_out(&text) => self.carry_out_buffered(),
            Line::Whole(text) => return self.take_text(&text),
        }
        Step::Again
    }

    /// Carries out a quick call, unless others must start first.
    fn carry_out(&mut self, text: &[u8]) -> bool {
        self.waiting.is_empty() && self.quick.carry_out(text)
    }

    /// Carries out the quick calls that have been read already, and stores all of them.
    fn carry_out_buffered(&mut self) {
        while let Some(text) = self.lines.buffered()
            && self.quick.carry_out(text)
        {
            let bytes = text.len();
            self.lines.skip(bytes);
        }
        if let Some(finished) = self.quick.store() {
            self.finished(finished);
        }
    }

    fn take_text(&mut self, text: &[u8]) -> Step {
        self.waiting_bytes = self.waiting_bytes.saturating_add(text.len());

        match Incoming::read(text) {
            Incoming::Message(message) => return self.take_message(*message),
            Incoming::Refused(answers) => {
                answers.into_iter().for_each(|answer| self.refuse(answer));
            }
            Incoming::Nothing => {}
        }
        Step::Again
    }

    fn take_message(&mut self, message: ClientJsonRpcMessage) -> Step {
        let request = match message {
            JsonRpcMessage::Request(request) => request,
            // rmcp ends the connection when there is nothing yet that these could refer to.
            _ if !self.is_opened => return Step::Again,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancel(id);
                }
                let message = JsonRpcMessage::Notification(notification);
                return Step::Message(Box::new(message));
            }
            message => return Step::Message(Box::new(message)),
        };

        if !self.in_flight.add(&request.id) {
            // The answer has no id, because the client would take it for that of the first request.
            let error = format!(
                "the id {} is used by another request that is in progress; expected a new id",
                cogwork_text::Name(&request.id.to_string())
            );
            let error = ErrorData::invalid_request(error, None);
            self.refuse(ServerJsonRpcMessage::error(error, None));
            return Step::Again;
        }

        if let ClientRequest::CustomRequest(unknown) = &request.request
            && unknown.method == "initialize"
        {
            // rmcp would complain about the metadata of the other generation.
            let error = crate::unknown_request::error(unknown);
            self.in_flight.remove(&request.id);
            self.refuse(ServerJsonRpcMessage::error(error, Some(request.id)));
            return Step::Again;
        }

        self.is_opened |= opens(&request.request);
        self.waiting.push_back(request);
        Step::Again
    }

    /// Forgets a request that is cancelled, because cancelled requests aren't answered.
    fn cancel(&mut self, id: &RequestId) {
        self.waiting.retain(|request| request.id != *id);
        self.quick.cancel(id);
        self.direct.cancel(id);
        self.in_flight.remove(id);
    }
}

/// What to do next.
enum Step {
    Again,
    Message(Box<ClientJsonRpcMessage>),
    End,
}

impl Step {
    /// Nothing can be sent any more if sending failed.
    fn after(sent: io::Result<()>) -> Self {
        match sent {
            Ok(()) => Self::Again,
            Err(_) => Self::End,
        }
    }
}

/// Whether a request starts a session, in either generation of the protocol.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            missing.is_empty()
        }
    }
}

impl<R, S, Q> Transport<RoleServer> for LineTransport<R, S, Q>
where
    R: AsyncRead + Send + Unpin,
    S: Service<RoleServer>,
    Q: QuickTool + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let place = id.and_then(|id| self.in_flight.remove(id));
        let outgoing = self.outgoing.clone();

        async move {
            let Some(outgoing) = outgoing else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            let text = outgoing::text(&message)?;
            outgoing.room().await?.send(text, place);
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let outgoing = self.outgoing.clone()?;
        loop {
            match self.step(&outgoing).await {
                Step::Again => {}
                Step::Message(message) => return Some(*message),
                Step::End => {
                    // rmcp doesn't close the transport if no session was opened.
                    outgoing.flush().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        if let Some(outgoing) = self.outgoing.take() {
            let patience = if self.is_at_end {
                AFTER_END
            } else {
                AFTER_STOP
            };
            // Without an error, because the client has gone or takes too long.
            let _ = tokio::time::timeout(patience, self.finish(&outgoing)).await;
        }
        self.writing.finish().await;
        Ok(())
    }
}
