//! A plan in the form of the paper: steps, and calls that produce evidence.

use std::fmt;

use cogwork_text::{Name, NameList};
use cogwork_typed::AnswerKey;
use serde_json::{Value, json};

use crate::parameter::is_shallow;
use crate::solve::json_or_text;
use crate::{Ask, PlannedCall, StageReply};

/// A plan that was read from a reply.
pub(super) struct Blueprint {
    /// The text before the first step.
    pub(super) thought: String,
    pub(super) steps: Vec<BlueprintStep>,
}

pub(super) struct BlueprintStep {
    description: String,
    pub(super) call: Option<PlannedCall>,
}

/// The maximum number of steps, including those without a call.
const MAX_STEPS: usize = 100;

/// The description of the form for the model.
const FORM: &str = "Write for each step:\n\
    Plan: what is done, and why\n\
    #E1 = tool[input]\n\
    The evidence is named #E1, #E2 and so on. The input is JSON, or a text alone; the name of earlier \
    evidence in it stands for what that call brings. A step that calls nothing has no second line.";

// The keys of a plan in JSON.
const PLAN: &str = "plan";
const STEP: &str = "step";
const TOOL: &str = "tool";
const INPUT: &str = "input";

impl Blueprint {
    /// Asks for a plan.
    pub(super) fn ask(prompt: String, tools: Vec<String>, max_calls: usize) -> Ask {
        Ask::new(prompt)
            .with_text_form(FORM)
            .with_json_fields(vec![json_plan(&tools, max_calls)])
            .with_check(move |reply| Self::of(reply).check(&tools, max_calls))
    }

    /// Reads the plan of a reply in lines or in JSON.
    pub(super) fn of(reply: &StageReply) -> Self {
        match reply.fields.get(PLAN).and_then(Value::as_array) {
            Some(steps) => Self {
                thought: reply.text.clone(),
                steps: (1..).zip(steps).map(json_step).collect(),
            },
            None => Self::in_lines(&reply.text),
        }
    }

    /// Reads as much as possible. [`check`](Self::check) finds the problems.
    fn in_lines(text: &str) -> Self {
        let mut thought = String::new();
        // The descriptions, and the ids and the texts of the calls.
        let mut steps: Vec<(String, Option<(&str, String)>)> = Vec::new();
        let mut may_go_on = false;

        let is_fence = |line: &&str| line.trim_start().starts_with("```");
        for line in text.lines().filter(|line| !is_fence(line)) {
            let label = step_label(line);
            let rest = label.unwrap_or(line);
            let call = call_in(rest);
            let before = call.map_or(rest, |(before, ..)| before).trim();
            let is_new = label.is_some();

            match steps.last_mut() {
                // A call may go on until an empty line. What follows is evidence that models
                // invent.
                Some((_, Some((_, text)))) if !is_new && call.is_none() => {
                    may_go_on &= !line.trim().is_empty();
                    if may_go_on {
                        text.push('\n');
                        text.push_str(line);
                    }
                }
                Some((description, None)) if !is_new => {
                    if !before.is_empty() {
                        description.push(' ');
                        description.push_str(before);
                    }
                }
                None if !is_new && call.is_none() => {
                    thought.push_str(before);
                    thought.push('\n');
                }
                _ => steps.push((before.to_owned(), None)),
            }

            if let (Some((_, id, text)), Some((_, last))) = (call, steps.last_mut()) {
                *last = Some((id, text.to_owned()));
                may_go_on = true;
            }
        }

        let steps = steps.into_iter().map(|(description, call)| BlueprintStep {
            description,
            call: call.map(|(id, text)| called(id, &text)),
        });
        Self {
            thought: thought.trim().to_owned(),
            steps: steps.collect(),
        }
    }

    /// Checks that the plan can be carried out with these tools.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    fn check(&self, tools: &[String], most: usize) -> Result<(), String> {
        let calls = self.steps.iter().filter_map(|step| step.call.as_ref());
        let count = calls.clone().count();
        if count == 0 {
            return Err("there is no call; expected a line such as `#E1 = tool[input]`".to_owned());
        }

        let steps = self.steps.len();
        if count > most || steps > MAX_STEPS {
            return Err(format!(
                "the plan has {steps} steps and {count} calls; expected at most {MAX_STEPS} and {most}"
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

/// Returns the key of a reply in JSON with the plan. Each step calls a tool.
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
    let input = match step.get(INPUT) {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(input)) => json_or_text(input),
        Some(input) => input.clone(),
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
        let (tool, expected) = (Name(&call.tool), NameList::or(tools));
        return Err(format!("`{id}` calls `{tool}`; expected {expected}"));
    }

    if !is_shallow(&call.input) {
        return Err(format!(
            "the input of `{id}` has too many levels; expected fewer"
        ));
    }
    let input = call.input.to_string();
    let mut named = input
        .match_indices("#E")
        .filter_map(|(at, _)| evidence(&input, at));
    let Some(unknown) = named.find(|name| !earlier.contains(name)).map(Name) else {
        return Ok(());
    };

    let expected = match earlier.is_empty() {
        true => "no evidence, since it is the first".to_owned(),
        false => NameList::or(earlier).to_string(),
    };
    Err(format!("`{id}` uses `{unknown}`; expected {expected}"))
}

/// Returns the name of evidence at a place of a text, such as `#E1`.
fn evidence(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at + 2..)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    text.get(at..at + 2 + digits).filter(|_| digits > 0)
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
    let word: String = label
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .collect();
    let is_label = ["plan", "step"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known));
    (is_label && label.len() <= 40 && !label.contains(['=', '"']))
        .then(|| rest.trim_start_matches(['*', '_', ' ']))
}

/// Finds a call in a line, such as `#E1 = search[hobbits]`. Returns what is before it, its id, and its
/// text.
fn call_in(line: &str) -> Option<(&str, &str, &str)> {
    line.match_indices("#E").find_map(|(at, _)| {
        let id = evidence(line, at).filter(|id| id.len() <= 6)?;
        let after = line
            .get(at + id.len()..)?
            .trim_start_matches(['*', '`', ' ']);
        let call = after.strip_prefix('=')?;
        let before = line.get(..at)?.trim_end_matches(['*', '`', '-', ' ']);
        Some((before, id, call))
    })
}

/// Reads a call such as `search[hobbits]`, `search("hobbits")`, `search {"for": "hobbits"}` or
/// `search: hobbits`.
fn called(id: &str, call: &str) -> PlannedCall {
    let call = call.trim().trim_matches(['`', '*']).trim();
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let end = call.find(|character| !is_part(character));
    let (tool, rest) = call.split_at(end.unwrap_or(call.len()));
    let rest = rest.trim();

    let within = |open, close| Some(rest.strip_prefix(open)?.rsplit_once(close)?.0.trim());
    let object = || rest.get(..=rest.rfind('}').filter(|_| rest.starts_with('{'))?);
    let input = within('[', ']')
        .or_else(|| within('(', ')'))
        .or_else(object);
    let input = input.unwrap_or_else(|| rest.trim_start_matches(':').trim());
    let input = match input {
        "" => json!({}),
        input => json_or_text(input),
    };
    PlannedCall::new(id, tool, input)
}
