use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, Flow, FlowBuilder, Wait, from_fn};
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

/// The action after an answer that cannot be used.
const ASK_AGAIN: Action = Action::from_static("ask again");

pub(super) fn make(settings: Settings, making: &mut Making<'_, '_>) -> Option<Made> {
    let reserved = [ASK_AGAIN, Action::TIMED_OUT];
    let choice = labels::checked(making, settings.actions, &reserved);
    let reason = settings.reason.unwrap_or_default();
    let waiting = Waiting {
        id: making.id().into(),
        key: settings.key.map(|key| making.template("key", &key)),
        reason: making.template("reason", &reason),
        choice,
        secrets: making.loading.secrets.clone(),
    };

    let event = settings.event.unwrap_or_else(|| making.id().to_owned());
    let flow = waiting.flow(event, settings.timeout.and_then(duration));
    making.built(flow).map(Made::subflow)
}

struct Waiting {
    id: Arc<str>,
    key: Option<Template>,
    reason: Template,
    choice: Choice,
    secrets: Secrets,
}

impl Waiting {
    /// Returns a flow that waits until there is a usable answer.
    fn flow(self, event: String, timeout: Option<Duration>) -> FlowBuilder<FlowState> {
        let id = Arc::clone(&self.id);
        let ends = self.choice.actions();
        let schema = self.schema();
        let waiting = Arc::new(self);
        let asking = Arc::clone(&waiting);
        let named = Arc::clone(&waiting);

        let mut wait = Wait::for_event(event, move |state: &mut FlowState, answer: Json| {
            waiting.use_answer(state, &answer)
        })
        .with_reason(move |state| asking.reason(state))
        .with_schema(schema)
        .with_actions(ends.iter().cloned().chain([ASK_AGAIN]));

        if named.key.is_some() {
            wait = wait.with_key(move |state| named.key(state));
        }
        if let Some(timeout) = timeout {
            wait = wait.with_timeout(timeout);
        }

        let builder = Flow::builder(&*id)
            .start("wait")
            .wait("wait", wait)
            .edge("wait", ASK_AGAIN, "wait");
        let builder = ends
            .into_iter()
            .fold(builder, |builder, action| builder.end("wait", action));

        if timeout.is_none() {
            return builder;
        }

        // The next visit doesn't begin with the last refusal of this one.
        let timed_out = Action::TIMED_OUT;
        let give_up = from_fn(move |state: &mut FlowState| {
            state.refusals.remove(&*id);
            Action::TIMED_OUT
        });
        builder
            .node("give up", give_up.with_actions([&timed_out]))
            .edge("wait", &timed_out, "give up")
            .end("give up", &timed_out)
    }

    /// Returns the schema of answers. A form offers the first kind. Stores refuse what doesn't match; an
    /// answer that comes before the question, or without a store, is asked for again.
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
        json!({"anyOf": [form, {"enum": self.short_answers()}]})
    }

    /// Returns the actions as texts, and as the JSON that a command makes of them.
    fn short_answers(&self) -> Vec<Json> {
        let labels = self.choice.0.iter().map(Action::as_str);
        let short = labels.flat_map(|label| {
            let value = match label {
                "yes" => Some(json!(true)),
                "no" => Some(json!(false)),
                label => serde_json::from_str(label).ok(),
            };
            [Some(json!(label)), value]
        });
        short.flatten().collect()
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

    /// Returns the reason, after what was wrong with the last answer.
    fn reason(&self, state: &FlowState) -> String {
        let reason = match self.reason.fill_as("`reason`", state) {
            Ok(filled) => filled.text,
            Err(error) => error.to_string(),
        };

        // People are shown the reason in messages and pages that this program doesn't write.
        self.secrets.hide(&match state.refusals.get(&*self.id) {
            Some(refusal) => format!("{refusal}\n{reason}"),
            None => reason,
        })
    }

    fn use_answer(&self, state: &mut FlowState, answer: &Json) -> Action {
        match self.read(answer) {
            Ok((text, action)) => {
                state.refusals.remove(&*self.id);
                state.put(&self.id, Output::new(text));
                action
            }
            // Kept in the state, so that the question that is asked again says why.
            Err(problem) => {
                state.refusals.insert(self.id.to_string(), problem);
                ASK_AGAIN
            }
        }
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

        let chosen = match answer {
            Json::String(_) | Json::Number(_) | Json::Bool(_) => text.as_str(),
            answer => answer.get("action").and_then(Json::as_str).unwrap_or(""),
        };
        // Forms and commands offer a switch for a question of yes or no.
        let switched = answer.as_bool().map(|yes| if yes { "yes" } else { "no" });
        let switched = switched.and_then(|label| self.choice.named(label));
        let Some(action) = self.choice.named(chosen).or(switched) else {
            let known = NameList::or(self.choice.0.iter().map(Action::as_str));
            return Err(match chosen.trim() {
                "" => format!("the answer names no action; expected {known}"),
                chosen => format!("`{}` names no action; expected {known}", Name(chosen)),
            });
        };

        let text = answer.get("text").and_then(Json::as_str);
        let text = text.unwrap_or(action.as_str()).to_owned();
        Ok((text, action.clone()))
    }
}
