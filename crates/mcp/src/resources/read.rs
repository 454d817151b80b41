//! Reading a resource.

use cogwork_strategies::Strategy;
use cogwork_text::{Name, NameList};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde_json::json;

use super::{Address, SessionFormat, session, strategies};
use crate::store::{Owner, SessionStore, StoreError};

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

    let failed = |error: StoreError| ErrorData::internal_error(error.to_string(), None);
    let (text, format) = match address {
        Address::Session(id, format) => {
            let header = store.header(owner, &id).await.map_err(failed)?;
            let header = header.ok_or_else(|| not_found(&uri, "there is no such session"))?;
            let rendered = session::render(store, owner, &header, format).await;
            (rendered.map_err(failed)?, format)
        }
        Address::Strategy(name, format) => {
            let strategy = strategy(store, &uri, &name)?;
            (strategies::render(strategy, format)?, format)
        }
        Address::Stage {
            strategy: name,
            stage,
        } => {
            let strategy = strategy(store, &uri, &name)?;
            let found = strategy.stage(&stage).ok_or_else(|| {
                let stages = strategy.stages().iter().map(|stage| stage.name());
                not_found(
                    &uri,
                    &format!("expected the stage {}", NameList::or(stages)),
                )
            })?;
            (strategies::text_of_stage(found), SessionFormat::Markdown)
        }
    };

    let contents = ResourceContents::text(text, uri).with_mime_type(format.mime_type());
    Ok(ReadResourceResult::new(vec![contents]))
}

fn strategy<'a>(store: &'a SessionStore, uri: &str, name: &str) -> Result<&'a Strategy, ErrorData> {
    let strategy = store.strategies().get(name);
    strategy.map_err(|error| not_found(uri, &error.to_string()))
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
