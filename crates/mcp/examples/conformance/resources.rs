//! Resources by their addresses.

use rmcp::ErrorData;
use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult};
use serde_json::json;

use crate::contents::{PNG, complete, wire};

pub(crate) const TEXT: &str = "test://static-text";
pub(crate) const BINARY: &str = "test://static-binary";
pub(crate) const WATCHED: &str = "test://watched-resource";

pub(crate) fn list() -> Result<ListResourcesResult, ErrorData> {
    wire(json!({"resources": [
        {"uri": TEXT, "name": "text", "description": "A text", "mimeType": "text/plain"},
        {"uri": BINARY, "name": "binary", "description": "A picture", "mimeType": "image/png"},
        {"uri": WATCHED, "name": "watched", "description": "A text", "mimeType": "text/plain"},
    ]}))
}

pub(crate) fn templates() -> Result<ListResourceTemplatesResult, ErrorData> {
    wire(json!({"resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "data",
        "description": "The data of an id",
        "mimeType": "application/json",
    }]}))
}

pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri {
        TEXT => {
            let text = "This is the content of the static text resource.";
            json!({"uri": uri, "mimeType": "text/plain", "text": text})
        }
        WATCHED => json!({"uri": uri, "mimeType": "text/plain", "text": "It doesn't change."}),
        BINARY => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => {
            let id = uri.strip_prefix("test://template/");
            let Some(id) = id.and_then(|id| id.strip_suffix("/data")) else {
                let data = json!({"uri": uri});
                return Err(ErrorData::resource_not_found(
                    "no such resource",
                    Some(data),
                ));
            };
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    wire(complete(json!({"contents": [contents]})))
}
