//! Reads one message, or finds out what is wrong with it.

use cogwork_text::OneLine;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::Value;
use serde_json::error::Category;

use super::id_finder::IdFinder;
use super::tool_call;

/// The maximum number of requests in a batch that are answered one by one.
const MAX_ANSWERED: usize = 100;

/// The maximum number of characters of a reason.
const REASON: usize = 200;

/// What a text from a client contains.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that can be used. These are the answers.
    Refused(Vec<ServerJsonRpcMessage>),
    /// Nothing that needs an answer, such as an empty line.
    Nothing,
}

impl Incoming {
    /// Reads a message.
    pub(crate) fn read(text: &[u8]) -> Self {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let text = text.trim_ascii();
        if text.is_empty() {
            return Self::Nothing;
        }

        if let Some(call) = tool_call::read(text) {
            return Self::Message(Box::new(call));
        }
        match serde_json::from_slice(text) {
            Ok(message) if is_request_with_invalid_id(&message, text) => {
                Self::refused(None, invalid(INVALID_ID))
            }
            Ok(message) => Self::Message(Box::new(message)),
            Err(error) if error.classify() == Category::Data => Self::misshapen(text),
            Err(error) => {
                let error = format!("the message is not valid JSON: {error}");
                Self::refused(IdFinder::find(text), parse_error(&error))
            }
        }
    }

    /// Returns the answer to a message that is too long.
    pub(crate) fn too_long(id: Option<RequestId>, max_bytes: usize) -> ServerJsonRpcMessage {
        let message = format!("the message is too long; at most {max_bytes} bytes are accepted");
        ServerJsonRpcMessage::error(invalid(&message), id)
    }

    fn refused(id: Option<RequestId>, error: ErrorData) -> Self {
        Self::Refused(vec![ServerJsonRpcMessage::error(error, id)])
    }

    /// Reads JSON that isn't a message.
    fn misshapen(text: &[u8]) -> Self {
        match serde_json::from_slice(text) {
            Ok(Value::Array(messages)) => Self::batch(&messages),
            Ok(message) => Self::misshapen_message(&message),
            Err(error) => Self::refused(None, parse_error(&error.to_string())),
        }
    }

    fn misshapen_message(message: &Value) -> Self {
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        let has_method = message.get("method").is_some();

        // An answer to an answer could be answered again, forever. Notifications have no answer.
        let is_notification = has_method && message.get("id").is_none();
        if is_notification || (is_answer && !has_method) {
            return Self::Nothing;
        }
        Self::refused(id_of(message), invalid(problem(message)))
    }

    fn batch(messages: &[Value]) -> Self {
        let requests = messages.iter().filter(|one| one.get("method").is_some());
        let ids: Vec<_> = requests.filter_map(id_of).collect();
        let error = invalid("batches are not supported; send each message on its own");

        if ids.is_empty() || ids.len() > MAX_ANSWERED {
            return Self::refused(None, error);
        }
        let answer = |id| ServerJsonRpcMessage::error(error.clone(), Some(id));
        Self::Refused(ids.into_iter().map(answer).collect())
    }
}

const INVALID_ID: &str = "the id of a request must be a string or an integer";

/// Whether a message was read as an unknown notification, because its id is of the wrong type.
fn is_request_with_invalid_id(message: &ClientJsonRpcMessage, text: &[u8]) -> bool {
    let JsonRpcMessage::Notification(notification) = message else {
        return false;
    };
    if !matches!(
        notification.notification,
        ClientNotification::CustomNotification(_)
    ) {
        return false;
    }
    serde_json::from_slice(text).is_ok_and(|message: Value| message.get("id").is_some())
}

fn id_of(message: &Value) -> Option<RequestId> {
    serde_json::from_value(message.get("id")?.clone()).ok()
}

/// Returns what is wrong with a message.
fn problem(message: &Value) -> &'static str {
    if !message.is_object() {
        return "a message must be an object";
    }
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return "`jsonrpc` must be \"2.0\"";
    }
    if !message.get("method").is_some_and(Value::is_string) {
        return "`method` must be a string";
    }
    if message.get("id").is_some() && id_of(message).is_none() {
        return INVALID_ID;
    }
    if message
        .get("params")
        .is_some_and(|params| !params.is_object())
    {
        return "`params` must be an object";
    }
    "`params._meta` must be an object, and no name may occur twice"
}

fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_request(message.to_owned(), None)
}

fn parse_error(message: &str) -> ErrorData {
    let message = OneLine::new(message).with_max_chars(REASON).to_string();
    ErrorData::new(ErrorCode::PARSE_ERROR, message, None)
}
