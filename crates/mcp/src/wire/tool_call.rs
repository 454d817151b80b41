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

/// Returns the call of a tool in a text.
///
/// Returns `None` if there is anything else, or anything unusual. rmcp reads the same from every
/// text that isn't refused here.
pub(super) fn read(text: &[u8]) -> Option<ClientJsonRpcMessage> {
    let message: Object<Message<'_>> = serde_json::from_slice(text).ok()?;
    let Message {
        jsonrpc,
        id,
        method,
        params: Object(params),
    } = message.0;
    if jsonrpc != "2.0" || method != "tools/call" {
        return None;
    }

    let mut call = CallToolRequestParams::new(Cow::Owned(params.name));
    call.arguments = params.arguments;
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = params.meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }

    let request = ClientRequest::CallToolRequest(request);
    Some(ClientJsonRpcMessage::request(request, id))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    params: Object<Params>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    arguments: Option<JsonObject>,
}

/// A struct that is written as an object. By default, serde also accepts a list of its fields.
struct Object<T>(T);

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
