//! Reading a resource.

use cogwork_text::{Name, NameList};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde_json::json;

use super::{Address, SessionFormat, session, strategies};
use crate::store::{Owner, SessionStore};

/// The maximum number of characters of a URI in an error.
const SHOWN: usize = 200;

/// Returns the contents of a resource.
pub(crate) async fn read(
    store: &SessionStore,
    owner: &Owner,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let Some(address) = Address::read(&uri) else {
        return Err(not_found(&uri, "expected one of resources/templates/list"));
    };

    let mut format = SessionFormat::Markdown;
    let text = match &address {
        Address::Session { id, format: asked } => {
            format = *asked;
            let header = store.header(owner, id).await;
            let header =
                header.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let header = header.ok_or_else(|| not_found(&uri, "there is no such session"))?;
            let rendered = session::render(store, owner, &header, format).await;
            rendered.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
        }
        Address::Strategy {
            name,
            format: asked,
        } => {
            format = *asked;
            let strategy = store.strategies().get(name);
            let strategy = strategy.map_err(|error| not_found(&uri, &error.to_string()))?;
            strategies::render(strategy, format)?
        }
        Address::Stage { strategy, stage } => stage_of(store, &uri, strategy, stage)?,
    };

    let contents = ResourceContents::text(text, uri).with_mime_type(format.mime_type());
    Ok(ReadResourceResult::new(vec![contents]))
}

fn stage_of(
    store: &SessionStore,
    uri: &str,
    strategy: &str,
    stage: &str,
) -> Result<String, ErrorData> {
    let strategy = store.strategies().get(strategy);
    let strategy = strategy.map_err(|error| not_found(uri, &error.to_string()))?;

    let found = strategy.stage(stage).ok_or_else(|| {
        let stages = strategy.stages().iter().map(|stage| stage.name());
        let expected = format!("expected the stage {}", NameList::or(stages));
        not_found(uri, &expected)
    })?;
    Ok(strategies::text_of_stage(found))
}

fn not_found(uri: &str, why: &str) -> ErrorData {
    let shown: String = uri.chars().take(SHOWN).collect();
    let shown = Name(&shown);
    // A URI has only visible characters of ASCII. Nothing else is repeated as it is.
    let is_uri = uri.bytes().all(|byte| byte.is_ascii_graphic());
    let is_shown = is_uri && uri.len() <= Address::MAX_BYTES;
    let data = is_shown.then(|| json!({"uri": uri}));
    ErrorData::resource_not_found(format!("there is no resource `{shown}`: {why}"), data)
}
