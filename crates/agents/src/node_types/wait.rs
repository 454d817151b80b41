use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, BoxError, Wait};
use cogwork_text::{Name, NameList};
use cogwork_typed::ask::call_label;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::labels::{self, labels};
use crate::choice::Choice;
use crate::secrets::Secrets;
use crate::settings::duration;
use crate::{FlowState, Made, Making, Output, Template};

/// The settings of a wait.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// The name of the event. Default: the id of the node.
    #[schemars(length(min = 1, max = 200), extend("x-environment" = false))]
    event: Option<String>,
    /// What tells this wait from others for the same event, such as those for the items of a map, with slots: {input}, {last}, and the id of any node. The event is then `<event> <key>`. Default: none.
    key: Option<String>,
    /// What the person who answers is shown, with slots: {input}, {last}, and the id of any node. Default: none.
    reason: Option<String>,
    /// The maximum time to wait, in seconds. After that, the node leaves by `timed out`. Default: unlimited.
    #[schemars(range(min = 0.001, max = 31_536_000.0))]
    timeout: Option<f64>,
    /// The actions that the answer chooses from. Default: none; any answer leaves by `default`.
    #[serde(default)]
    #[schemars(length(max = 50), schema_with = "labels")]
    actions: Vec<String>,
}

pub(super) fn make(settings: Settings, making: &mut Making<'_, '_>) -> Option<Made> {
    let choice = labels::checked(making, settings.actions, &[Action::TIMED_OUT]);
    let reason = settings.reason.unwrap_or_default();
    let waiting = Waiting {
        key: settings.key.map(|key| making.template("key", &key)),
        reason: making.template("reason", &reason),
        choice,
        secrets: making.loading.secrets.clone(),
    };

    let event = settings.event.unwrap_or_else(|| making.id().to_owned());
    let timeout = settings.timeout.and_then(duration);
    Some(waiting.made(making.id().to_owned(), event, timeout))
}

struct Waiting {
    key: Option<Template>,
    reason: Template,
    choice: Choice,
    secrets: Secrets,
}

impl Waiting {
    fn made(self, id: String, event: String, timeout: Option<Duration>) -> Made {
        let mut actions = self.choice.actions();
        let schema = self.schema();
        let waiting = Arc::new(self);
        let shared = || Arc::clone(&waiting);
        let (using, checking, asking, naming) = (shared(), shared(), shared(), shared());

        let use_answer = move |state: &mut FlowState, answer: Json| {
            let (text, action) = using.read(&answer)?;
            state.put(&id, Output::new(text));
            Ok::<_, BoxError>(action)
        };
        let mut wait = Wait::for_event(event, use_answer)
            .with_check(move |answer| checking.read(answer).map(drop))
            .with_reason(move |state| asking.reason(state))
            .with_schema(schema)
            .with_actions(&actions);

        if waiting.key.is_some() {
            wait = wait.with_key(move |state| naming.key(state));
        }
        if let Some(timeout) = timeout {
            wait = wait.with_timeout(timeout);
            actions.push(Action::TIMED_OUT);
        }
        Made {
            actions,
            add: Box::new(|builder, id| builder.wait(id, wait)),
        }
    }

    /// Returns the schema of answers. A form offers the first kind.
    fn schema(&self) -> Json {
        if !self.choice.is_open() {
            return json!({"anyOf": [{"type": "string"}, {}]});
        }

        let form = json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": self.choice.0},
                "text": {"type": "string"},
            },
            "required": ["action"],
            "additionalProperties": false,
        });
        let short: Vec<Json> = self.short_answers().map(|(short, _)| short).collect();
        json!({"anyOf": [form, {"enum": short}]})
    }

    /// Returns the answers that only choose an action: its label as a text, and as the JSON that a
    /// command makes of it.
    fn short_answers(&self) -> impl Iterator<Item = (Json, &Action)> {
        self.choice.0.iter().flat_map(|action| {
            let value = match action.as_str() {
                "yes" => Some(json!(true)),
                "no" => Some(json!(false)),
                label => serde_json::from_str(label).ok(),
            };
            let short = [Some(json!(action)), value].into_iter().flatten();
            short.map(move |short| (short, action))
        })
    }

    /// Returns the key, shortened to one line, since people write it in commands.
    fn key(&self, state: &FlowState) -> String {
        let filled = self.key.as_ref().map(|key| key.fill(state));
        let key = filled.and_then(Result::ok).unwrap_or_default().text;
        let key = self.secrets.hide(key.trim());
        let shown = Name(&key).to_string();
        // Long texts may begin alike, such as the items of a map.
        match shown.ends_with('…') {
            true => call_label(&shown, &key),
            false => shown,
        }
    }

    fn reason(&self, state: &FlowState) -> String {
        let reason = match self.reason.fill_as("`reason`", state) {
            Ok(filled) => filled.text,
            Err(error) => error.to_string(),
        };
        // People are shown the reason in messages and pages that this program doesn't write.
        self.secrets.hide(&reason)
    }

    /// Returns the text and the action of an answer, or what is wrong with it.
    fn read(&self, answer: &Json) -> Result<(String, Action), String> {
        let text = match answer {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };

        let most = Template::MAX_FILLED;
        // A prompt with the answer would be too long for every later node.
        if text.len() > most {
            return Err(format!(
                "the answer has more than {most} bytes; expected fewer"
            ));
        }
        if !self.choice.is_open() {
            return Ok((text, Action::DEFAULT));
        }

        let form = answer.get("action");
        let chosen = form.unwrap_or(answer);
        let mut short = self.short_answers();
        let named =
            short.find(|(short, _)| short == chosen && (form.is_none() || short.is_string()));
        let Some((_, action)) = named else {
            let known = NameList::or(self.choice.0.iter().map(Action::as_str));
            return Err(match chosen {
                Json::String(chosen) => {
                    format!("`{}` names no action; expected {known}", Name(chosen))
                }
                _ => format!("the answer names no action; expected {known}"),
            });
        };

        let text = answer.get("text").and_then(Json::as_str);
        let text = text.unwrap_or(action.as_str()).to_owned();
        Ok((text, action.clone()))
    }
}
