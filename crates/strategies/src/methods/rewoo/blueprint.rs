//! A plan in the form of the paper: steps, and calls that produce evidence.

use std::fmt;

use cogwork_text::{Name, NameList};
use cogwork_typed::AnswerKey;
use serde_json::{Map, Value, json};

use crate::solve::json_or_text;
use crate::{Ask, ParameterType, PlannedCall, StageReply};

/// A plan that was read from a reply.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Blueprint {
    /// The text before the first step.
    pub(super) thought: String,
    pub(super) steps: Vec<BlueprintStep>,
}

#[derive(Debug, PartialEq)]
pub(super) struct BlueprintStep {
    pub(super) description: String,
    pub(super) call: Option<PlannedCall>,
}

/// The maximum number of steps, including those without a call.
const MAX_STEPS: usize = 100;

impl Blueprint {
    /// The description of the form for the model.
    const FORM: &str = "Write for each step:\n\
        Plan: what is done, and why\n\
        #E1 = tool[input]\n\
        The evidence is named #E1, #E2 and so on. The input is JSON, or a text alone; the name of earlier \
        evidence in it stands for what that call brings. A step that calls nothing has no second line.";

    /// Asks for a plan.
    pub(super) fn ask(prompt: String, tools: &[String], max_calls: usize) -> Ask {
        Ask::new(prompt)
            .with_text_form(Self::FORM)
            .with_json_fields(vec![json_plan(tools, max_calls)], |reply| reply)
    }

    /// Reads the plan of a reply in lines or in JSON.
    pub(super) fn of(reply: &StageReply) -> Self {
        match reply.fields.get(PLAN).and_then(Value::as_array) {
            Some(steps) => Self {
                thought: reply.text.clone(),
                steps: (1..).zip(steps).map(json_step).collect(),
            },
            None => Self::read(&reply.text),
        }
    }

    /// Reads as much as possible. [`check`](Self::check) finds the problems.
    pub(super) fn read(text: &str) -> Self {
        let mut read = Self::default();

        // The id and the text of the call of the last step, which may continue on the next line.
        let mut open: Option<(String, String)> = None;

        let is_fence = |line: &&str| line.trim_start().starts_with("```");
        for line in text.lines().filter(|line| !is_fence(line)) {
            let step = step_label(line);
            let rest = step.unwrap_or(line);
            let call = call_in(rest);

            let may_continue = step.is_none() && call.is_none() && !line.trim().is_empty();
            if may_continue && let Some((_, text)) = &mut open {
                text.push('\n');
                text.push_str(line);
                continue;
            }

            read.close(open.take());
            let before = call.map_or(rest, |(before, ..)| before).trim();
            if step.is_some() {
                read.add_step(before);
            } else {
                read.go_on(before, call.is_some());
            }

            open = call.map(|(_, id, text)| (id.to_owned(), text.to_owned()));
        }

        read.close(open);
        read.thought = read.thought.trim().to_owned();
        read
    }

    fn add_step(&mut self, description: &str) {
        self.steps.push(BlueprintStep {
            description: description.to_owned(),
            call: None,
        });
    }

    /// Adds a line that doesn't start a step to the last step, or to the text before the first one.
    fn go_on(&mut self, line: &str, with_call: bool) {
        match self.steps.last_mut() {
            // After a call, models invent its evidence, which is ignored.
            Some(step) if step.call.is_none() => {
                if !line.is_empty() {
                    step.description.push(' ');
                    step.description.push_str(line);
                }
            }
            _ if with_call => self.add_step(line),
            Some(_) => {}
            None => {
                self.thought.push_str(line);
                self.thought.push('\n');
            }
        }
    }

    fn close(&mut self, open: Option<(String, String)>) {
        if let Some((id, text)) = open
            && let Some(step) = self.steps.last_mut()
        {
            step.call = Some(called(id, &text));
        }
    }

    /// Checks that the plan can be carried out with these tools.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    pub(super) fn check(&self, tools: &[String], most: usize) -> Result<(), String> {
        let calls: Vec<_> = self
            .steps
            .iter()
            .filter_map(|step| step.call.as_ref())
            .collect();

        if calls.is_empty() {
            return Err("there is no call; expected a line such as `#E1 = tool[input]`".to_owned());
        }

        if calls.len() > most || self.steps.len() > MAX_STEPS {
            let steps = self.steps.len();
            let calls = calls.len();
            return Err(format!(
                "the plan has {steps} steps and {calls} calls; expected at most {MAX_STEPS} and {most}"
            ));
        }

        let mut earlier: Vec<&str> = Vec::new();
        for call in calls {
            check_call(call, &earlier, tools)?;
            earlier.push(&call.id);
        }

        Ok(())
    }
}

/// The field of a reply in JSON with the plan.
const PLAN: &str = "plan";

const STEP: &str = "step";
const TOOL: &str = "tool";
const INPUT: &str = "input";

/// Returns the field of a reply in JSON with the plan. Each step calls a tool.
fn json_plan(tools: &[String], max_calls: usize) -> AnswerKey {
    let input = "its input; `#E1` in it stands for what the call of the first step brings, `#E2` for the second";
    let step = json!({
        "type": "object",
        "properties": {
            INPUT: {"description": input},
            STEP: {"type": "string", "description": "what is done, and why"},
            TOOL: {"enum": tools, "description": "the tool that the step calls"},
        },
        "required": [INPUT, STEP, TOOL],
    });

    let steps = json!({"type": "array", "items": step, "minItems": 1});
    AnswerKey::new(PLAN, "the steps, each of which calls a tool", &steps)
        .offering_items(1, max_calls)
}

/// Returns the step of a reply in JSON with this number.
fn json_step((number, step): (usize, &Value)) -> BlueprintStep {
    let text = |name| step.get(name).and_then(Value::as_str).unwrap_or_default();
    let input = match step.get(INPUT).cloned() {
        None | Some(Value::Null) => Map::new().into(),
        Some(Value::String(input)) => json_or_text(&input),
        Some(input) => input,
    };

    BlueprintStep {
        description: text(STEP).to_owned(),
        call: Some(PlannedCall::new(format!("#E{number}"), text(TOOL), input)),
    }
}

/// Checks a call after `earlier` ones.
fn check_call(call: &PlannedCall, earlier: &[&str], tools: &[String]) -> Result<(), String> {
    let id = call.id.as_str();
    if earlier.contains(&id) {
        return Err(format!(
            "`{id}` is used twice; expected a different name for each call"
        ));
    }

    if !tools.contains(&call.tool) {
        let tool = Name(&call.tool);
        let expected = NameList::or(tools);
        return Err(format!("`{id}` calls `{tool}`; expected {expected}"));
    }

    if let Some(fault) = ParameterType::Any.faults(id, &call.input).first() {
        return Err(fault.to_string());
    }

    let mut named = Vec::new();
    evidence_in(&call.input, &mut named);
    let unknown = named.iter().find(|name| !earlier.contains(&name.as_str()));
    let Some(unknown) = unknown.map(|name| Name(name)) else {
        return Ok(());
    };

    if earlier.is_empty() {
        return Err(format!(
            "`{id}` uses `{unknown}`; expected no evidence, since it is the first"
        ));
    }

    let expected = NameList::or(earlier);
    Err(format!("`{id}` uses `{unknown}`; expected {expected}"))
}

/// Writes the description, with the name of the evidence.
impl fmt::Display for BlueprintStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.call {
            None => f.write_str(&self.description),
            Some(call) if self.description.is_empty() => {
                write!(f, "Call {} ({})", call.tool, call.id)
            }
            Some(call) => write!(f, "{} ({})", self.description, call.id),
        }
    }
}

/// Returns the text after a label such as `Plan:`, `**Plan 2:**` or `Step 1:`.
fn step_label(line: &str) -> Option<&str> {
    let (label, rest) = line.split_once(':')?;
    if label.len() > 40 {
        return None;
    }

    let word: String = label
        .chars()
        .filter(|character| character.is_alphabetic())
        .collect();
    let is_label = ["plan", "step"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known));
    (is_label && !label.contains(['=', '"'])).then(|| rest.trim_start_matches(['*', '_', ' ']))
}

/// Finds a call in a line, such as `#E1 = search[hobbits]`. Returns what is before it, its id, and its
/// text.
fn call_in(line: &str) -> Option<(&str, &str, &str)> {
    line.match_indices("#E").find_map(|(at, _)| {
        let rest = line.get(at + 2..)?;
        let digits = rest.find(|character: char| !character.is_ascii_digit())?;

        let after = rest.get(digits..)?.trim_start_matches(['*', '`', ' ']);
        let call = after.strip_prefix('=')?;
        if !(1..=4).contains(&digits) {
            return None;
        }

        let before = line.get(..at)?.trim_end_matches(['*', '`', '-', ' ']);
        Some((before, line.get(at..at + 2 + digits)?, call))
    })
}

/// Reads a call such as `search[hobbits]`, `search("hobbits")`, `search {"for": "hobbits"}` or
/// `search: hobbits`.
fn called(id: String, call: &str) -> PlannedCall {
    let call = call.trim().trim_matches(['`', '*']).trim();
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let end = call
        .find(|character| !is_part(character))
        .unwrap_or(call.len());
    let tool = call.get(..end).unwrap_or_default();
    let rest = call.get(end..).unwrap_or_default().trim();
    let within = |open, close| {
        rest.strip_prefix(open)?
            .rsplit_once(close)
            .map(|(inside, _)| inside.trim())
    };

    let input = within('[', ']').or_else(|| within('(', ')')).or_else(|| {
        let end = rest.rfind('}').filter(|_| rest.starts_with('{'))?;
        rest.get(..=end)
    });
    let input = input.unwrap_or_else(|| rest.trim_start_matches(':').trim());
    let input = match input {
        "" => Map::new().into(),
        input => json_or_text(input),
    };

    PlannedCall::new(id, tool, input)
}

/// Adds the names of evidence in an input to `found`.
fn evidence_in(input: &Value, found: &mut Vec<String>) {
    match input {
        Value::String(text) => {
            for (at, _) in text.match_indices("#E") {
                let rest = text.get(at + 2..).unwrap_or_default();
                let digits = rest
                    .find(|character: char| !character.is_ascii_digit())
                    .unwrap_or(rest.len());

                if digits > 0 {
                    found.push(text.get(at..at + 2 + digits).unwrap_or_default().to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| evidence_in(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| evidence_in(value, found)),
        _ => {}
    }
}
