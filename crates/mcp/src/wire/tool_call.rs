//! Reads calls of tools without the readers of rmcp, which try one type of message after the other
//! on a copy of all values.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonObject,
    RequestId, RequestMetaObject,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A call whose arguments have been read.
pub(super) struct ToolCall<'a, A> {
    pub(super) id: RequestId,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Option<A>,
    meta: Option<JsonObject>,
}

impl<A> ToolCall<'_, A> {
    pub(super) fn has_meta(&self) -> bool {
        self.meta.is_some()
    }
}

/// Returns the call of a tool in a text.
///
/// Returns `None` if there is anything else, or anything unusual. rmcp reads the same from every
/// text that isn't refused here.
pub(super) fn read(text: &[u8]) -> Option<ClientJsonRpcMessage> {
    let ToolCall {
        id,
        name,
        arguments,
        meta,
    } = read_as::<JsonObject>(text)?;

    let mut call = CallToolRequestParams::new(name.into_owned());
    call.arguments = arguments;
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }

    let request = ClientRequest::CallToolRequest(request);
    Some(ClientJsonRpcMessage::request(request, id))
}

/// Returns the call of a tool in a text, if its arguments can be read as this type.
pub(super) fn read_as<'a, A: Deserialize<'a>>(text: &'a [u8]) -> Option<ToolCall<'a, A>> {
    // Once for all strings, which are then not checked one by one.
    let text = std::str::from_utf8(text).ok()?;
    let message: Object<Message<'a, A>> = serde_json::from_str(text).ok()?;
    let Message {
        jsonrpc,
        id,
        method,
        params: Object(params),
    } = message.0;
    if jsonrpc != "2.0" || method != "tools/call" {
        return None;
    }

    Some(ToolCall {
        id,
        name: params.name,
        arguments: params.arguments,
        meta: params.meta,
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, bound = "A: Deserialize<'de>")]
struct Message<'a, A> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Object<Params<'a, A>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, bound = "A: Deserialize<'de>")]
struct Params<'a, A> {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    arguments: Option<A>,
}

/// A struct that is written as an object. By default, serde also accepts a list of its fields.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}
