//! Completing names.

use cogwork_strategies::{Strategies, Strategy};
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo, Reference,
};

use super::Way;
use crate::resources::SessionFormat;
use crate::store::{Filter, Owner, SessionStore};

/// Returns the values of an argument that begin with what was typed.
pub(crate) async fn complete(
    store: &SessionStore,
    owner: &Owner,
    offered: &[Way],
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    let strategies = store.strategies();
    let values = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Prompt(_), "sessionId") | (Reference::Resource(_), "id") => {
            sessions(store, owner, typed).await?
        }
        (Reference::Prompt(prompt), "tool") => {
            owned(Way::of(&prompt.name, offered).into_iter().map(Way::as_str))
        }
        (Reference::Resource(_), "name") => owned(strategies.iter().map(Strategy::name)),
        (Reference::Resource(_), "format") => owned(SessionFormat::ALL.map(SessionFormat::as_str)),
        (Reference::Resource(_), "stage") => stages(strategies, request.context.as_ref()),
        _ => Vec::new(),
    };

    let matching = values.into_iter().filter(|value| value.starts_with(typed));
    let mut matching: Vec<String> = matching.collect();
    let has_more = matching.len() > CompletionInfo::MAX_VALUES;
    matching.truncate(CompletionInfo::MAX_VALUES);

    let info = CompletionInfo::with_pagination(matching, None, has_more);
    let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

async fn sessions(
    store: &SessionStore,
    owner: &Owner,
    typed: &str,
) -> Result<Vec<String>, ErrorData> {
    let filter = Filter {
        id_prefix: Some(typed.to_owned()),
        limit: CompletionInfo::MAX_VALUES.saturating_add(1),
        ..Filter::default()
    };
    let sessions = store.list(owner, filter).await;
    let sessions = sessions.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(sessions
        .iter()
        .map(|session| session.id.to_string())
        .collect())
}

/// Returns the stages of the strategy that was chosen before, or of all of them.
fn stages(strategies: &Strategies, context: Option<&CompletionContext>) -> Vec<String> {
    let chosen = context.and_then(|context| context.get_argument("name"));
    let chosen = chosen.and_then(|name| strategies.get(name).ok());
    let is_meant =
        |strategy: &&Strategy| chosen.is_none_or(|chosen| chosen.name() == strategy.name());

    let stages = strategies
        .iter()
        .filter(is_meant)
        .flat_map(Strategy::stages);
    let mut names = owned(stages.map(|stage| stage.name()));
    names.sort();
    names.dedup();
    names
}

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
