//! Completing names.

use cogwork_strategies::{Strategies, Strategy};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::arguments::{Way, Ways};
use crate::resources::SessionFormat;
use crate::store::{Filter, Owner, SessionId, SessionStore};

/// Returns the values of an argument that begin with what was typed.
pub(crate) async fn complete(
    store: &SessionStore,
    owner: &Owner,
    offered: Ways,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    let values = match Completed::of(&request, store.strategies()) {
        Completed::Sessions => sessions(store, owner, typed).await?,
        Completed::Strategies => names(store.strategies()),
        Completed::Stages(strategies) => stages(&strategies),
        Completed::Formats => owned(SessionFormat::ALL.map(SessionFormat::as_str)),
        Completed::Ways { prompt } => {
            let ways = Way::all(&prompt, offered);
            ways.into_iter()
                .map(|way| way.as_str().to_owned())
                .collect()
        }
        Completed::Nothing => Vec::new(),
    };

    let matching = values.into_iter().filter(|value| value.starts_with(typed));
    let mut matching: Vec<String> = matching.collect();
    let has_more = matching.len() > CompletionInfo::MAX_VALUES;
    matching.truncate(CompletionInfo::MAX_VALUES);

    let info = CompletionInfo::with_pagination(matching, None, has_more);
    let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

/// What is completed.
enum Completed {
    Sessions,
    Strategies,
    Stages(Vec<Strategy>),
    Formats,
    Ways { prompt: String },
    Nothing,
}

impl Completed {
    fn of(request: &CompleteRequestParams, strategies: &Strategies) -> Self {
        let argument = request.argument.name.as_str();
        match (&request.r#ref, argument) {
            (Reference::Prompt(_), "sessionId") => Self::Sessions,
            (Reference::Prompt(prompt), "tool") => Self::Ways {
                prompt: prompt.name.clone(),
            },
            (Reference::Resource(_), "id") => Self::Sessions,
            (Reference::Resource(_), "name") => Self::Strategies,
            (Reference::Resource(_), "format") => Self::Formats,
            (Reference::Resource(_), "stage") => Self::stages(request, strategies),
            _ => Self::Nothing,
        }
    }

    /// Stages of the strategy that was chosen before, or of all of them.
    fn stages(request: &CompleteRequestParams, strategies: &Strategies) -> Self {
        let context = request.context.as_ref();
        let chosen = context.and_then(|context| context.get_argument("name"));
        let chosen = chosen.and_then(|name| strategies.get(name).ok());
        match chosen {
            Some(strategy) => Self::Stages(vec![strategy.clone()]),
            None => Self::Stages(strategies.iter().cloned().collect()),
        }
    }
}

async fn sessions(
    store: &SessionStore,
    owner: &Owner,
    typed: &str,
) -> Result<Vec<String>, ErrorData> {
    // No id is longer, or has other characters.
    if !typed.is_empty() && SessionId::named(typed).is_none() {
        return Ok(Vec::new());
    }

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

fn names(strategies: &Strategies) -> Vec<String> {
    owned(strategies.iter().map(|strategy| strategy.name()))
}

fn stages(strategies: &[Strategy]) -> Vec<String> {
    let stages = strategies.iter().flat_map(|strategy| strategy.stages());
    let mut names = owned(stages.map(|stage| stage.name()));
    names.sort();
    names.dedup();
    names
}

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
