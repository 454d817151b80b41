use cogwork_text::{Name, OneLine, expensive_yaml_line};
use serde::{Deserialize, Serialize};

use super::template::names;
use crate::Reply;

/// All texts that are sent to the model. Each of them can be replaced, for example by a text in
/// another language.
///
/// The texts are templates: `{name}` is replaced with a value, and each text supports different
/// names. [`check`](Prompts::check) finds unknown and missing names. The defaults are the files
/// `prompts/english.yaml` and `prompts/chinese.yaml` of this crate.
///
/// `{form}`, `{form_name}` and `{form_rules}` are replaced with the texts of
/// [`yaml`](Prompts::yaml) or [`json`](Prompts::json), depending on the requested form, so both
/// forms share all other texts. If your texts mention YAML themselves, set `json` to `None`. All
/// replies are then requested in YAML.
///
/// ```
/// use cogwork_cot::Prompts;
///
/// let mut prompts = Prompts::english();
/// prompts.system.push_str("\nWork in metric units.");
/// assert!(prompts.check().is_ok());
///
/// prompts.problem = "Solve {task}".to_owned();
/// assert_eq!(
///     prompts.check().unwrap_err().to_string(),
///     "prompt `problem`: `{task}` is not known here; it may use {problem}, and must use {problem}",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Prompts {
    /// General instructions: what a thought is, the form of a reply, the rules of the plan.
    /// `{form}`, `{form_name}`, `{form_rules}`; with [`json`](Prompts::json), `{form}` is required.
    pub system: String,
    /// A worked example with a different problem, or `None` to omit it. It is shown as an earlier
    /// exchange, because models copy examples that are part of the instructions.
    pub example: Option<Example>,
    /// The problem. `{problem}`.
    pub problem: String,
    /// Instructions for the first thought; they follow the problem in one message.
    /// `{thought_number}`, `{form_name}`.
    pub first_turn: String,
    /// An earlier thought, in the role of the model. `{thought_number}`, `{current_thinking}`.
    pub thought: String,
    /// The message between two earlier thoughts. `{thought_number}` is that of the second one.
    pub next_thought: String,
    /// Instructions for a later thought, with the plan. `{thought_number}`,
    /// `{last_thought_number}`, `{plan}`, `{left_out}`, `{form_name}`.
    pub later_turn: String,
    /// States that earlier thoughts are omitted. It is only used if some are. `{left_out_count}`.
    pub left_out: String,
    /// Asks again after a reply that could not be read. `{complaint}`, `{form_name}`.
    pub unreadable: String,
    /// Asks again after a reply that was cut off by the token limit. `{form_name}`.
    pub cut_off: String,
    /// Asks for confirmation of an end while steps are not done. `{open_steps}`.
    pub ended_early: String,
    /// Asks for the conclusion, after the instructions for the thought, when only one more turn fits
    /// into the limits. `{form_name}`.
    pub conclude: String,
    /// The texts about the form if YAML is requested. They are empty by default.
    #[serde(default)]
    pub yaml: FormPrompts,
    /// The texts about the form if JSON is requested. If this is `None`, the default, JSON is never
    /// requested.
    #[serde(default)]
    pub json: Option<FormPrompts>,
    /// The texts about tools.
    pub tools: ToolPrompts,
}

/// Texts about the form of a reply. They cannot contain `{name}` placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormPrompts {
    /// The name of the form, used in phrases such as "reply with the … only": `{form_name}`.
    pub name: String,
    /// The description of the form: `{form}`.
    pub form: String,
    /// The rules of the form: `{form_rules}`.
    pub rules: String,
}

impl FormPrompts {
    /// Returns the values of the placeholders about the form.
    pub(super) fn values(&self) -> [(&'static str, &str); 3] {
        [
            ("form", self.form.trim_end()),
            ("form_name", &self.name),
            ("form_rules", self.rules.trim_end()),
        ]
    }
}

/// Texts about tools. They are only used by a node [with
/// tools](crate::ChainOfThought::with_tools).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolPrompts {
    /// Follows the system text if the server supports tools. `{form_name}`.
    pub native: String,
    /// Follows the system text if the server doesn't support tools. `{tools}`, `{call_form}`,
    /// `{form_name}`; the first two are required.
    pub in_reply: String,
    /// The description of a reply with calls, if YAML is requested: `{call_form}`.
    pub yaml: String,
    /// The description of a reply with calls, if JSON is requested: `{call_form}`.
    pub json: String,
    /// The message with the results, if the server doesn't support tools. `{results}`,
    /// `{form_name}`.
    pub results: String,
    /// The message with the last results, after which no more tools may be called. `{results}`,
    /// `{form_name}`.
    pub last_results: String,
    /// What the tools returned in an earlier thought; it precedes the message after the thought.
    /// `{thought_number}`, `{results}`.
    pub earlier: String,
    /// Asks again after calls that could not be read. `{complaint}`, `{form_name}`.
    pub unreadable: String,
    /// Asks again after a reply with calls when no more tools may be called. `{form_name}`.
    pub used_up: String,
}

/// A problem with replies. In the request, all replies but the last one are earlier thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The problem.
    pub problem: String,
    /// Good replies, in order.
    pub replies: Vec<Reply>,
}

/// The maximum length of prompts in YAML, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The maximum number of characters of a message that quotes the prompts.
const MAX_QUOTED: usize = 300;

/// The maximum nesting of prompts, which leaves room for the deepest plan in an example.
const MAX_NESTING: usize = 76;

/// What is wrong with [`Prompts`], in one line.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PromptsError(String);

cogwork_text::debug_as_display!(PromptsError);

impl Prompts {
    /// Returns the prompts in English, the default.
    pub fn english() -> Self {
        Self::built_in(include_str!("../../prompts/english.yaml"))
    }

    /// Returns the prompts in Chinese. The keys and statuses of replies stay in English.
    pub fn chinese() -> Self {
        Self::built_in(include_str!("../../prompts/chinese.yaml"))
    }

    #[expect(
        clippy::expect_used,
        reason = "the texts are part of the crate, and a test reads each"
    )]
    fn built_in(yaml: &str) -> Self {
        Self::from_yaml(yaml).expect("the crate's own prompts can be read")
    }

    /// Reads prompts from YAML, in the format of the files of this crate, and checks them.
    ///
    /// Comments are allowed; anchors, aliases and tags are not.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is longer than 1 MiB, if it isn't YAML in this format (with the
    /// line), or if a check fails.
    pub fn from_yaml(yaml: &str) -> Result<Self, PromptsError> {
        let bytes = yaml.len();
        if bytes > MAX_BYTES {
            return Err(PromptsError(format!(
                "the text has {bytes} bytes; expected at most {MAX_BYTES}"
            )));
        }
        if let Some(line) = expensive_yaml_line(yaml, MAX_NESTING) {
            return Err(PromptsError(format!(
                "line {line}: the nesting is too deep; expected at most {MAX_NESTING} levels"
            )));
        }

        let prompts: Self = serde_yaml::from_str(yaml).map_err(|error| {
            // It quotes what it found, which may be the whole text.
            PromptsError(OneLine::new(error).with_max_chars(MAX_QUOTED).to_string())
        })?;
        prompts.check()?;
        Ok(prompts)
    }

    /// Checks the names in every text.
    ///
    /// # Errors
    ///
    /// Returns the first problem.
    pub fn check(&self) -> Result<(), PromptsError> {
        // If JSON may be requested, only `{form}` specifies it.
        let system = match &self.json {
            Some(_) => "form! form_name form_rules",
            None => "form form_name form_rules",
        };
        let later_turn = "thought_number last_thought_number plan! left_out form_name";
        let tools = &self.tools;
        let rules = [
            ("system", &self.system, system),
            ("problem", &self.problem, "problem!"),
            ("first_turn", &self.first_turn, "thought_number form_name"),
            ("thought", &self.thought, "thought_number current_thinking!"),
            ("next_thought", &self.next_thought, "thought_number"),
            ("later_turn", &self.later_turn, later_turn),
            ("left_out", &self.left_out, "left_out_count"),
            ("unreadable", &self.unreadable, "complaint! form_name"),
            ("cut_off", &self.cut_off, "form_name"),
            ("ended_early", &self.ended_early, "open_steps!"),
            ("conclude", &self.conclude, "form_name"),
            ("tools.native", &tools.native, "form_name"),
            (
                "tools.in_reply",
                &tools.in_reply,
                "tools! call_form! form_name",
            ),
            ("tools.results", &tools.results, "results! form_name"),
            (
                "tools.last_results",
                &tools.last_results,
                "results! form_name",
            ),
            ("tools.earlier", &tools.earlier, "thought_number results!"),
            (
                "tools.unreadable",
                &tools.unreadable,
                "complaint! form_name",
            ),
            ("tools.used_up", &tools.used_up, "form_name"),
        ];

        for (prompt, text, rule) in rules {
            check_names(prompt, text, rule)?;
        }

        let used: Vec<&str> = rules.iter().flat_map(|(_, text, ..)| names(text)).collect();
        for (form, texts) in [("yaml", Some(&self.yaml)), ("json", self.json.as_ref())] {
            let values = texts.into_iter().flat_map(FormPrompts::values);
            let mut empty = values.filter(|(_, text)| text.trim().is_empty());

            if let Some((name, _)) = empty.find(|(name, _)| used.contains(name)) {
                let field = name.strip_prefix("form_").unwrap_or(name);
                return Err(PromptsError(format!(
                    "prompt `{form}.{field}` is empty, but other prompts use it as `{{{name}}}`; expected a text"
                )));
            }
        }

        Ok(())
    }
}

/// Checks that a text uses no other names than those of a rule, and all that have a `!`.
fn check_names(prompt: &str, text: &str, rule: &str) -> Result<(), PromptsError> {
    let used = names(text);
    let allowed: Vec<_> = rule
        .split(' ')
        .map(|name| name.trim_end_matches('!'))
        .collect();
    let required: Vec<_> = rule
        .split(' ')
        .filter_map(|name| name.strip_suffix('!'))
        .collect();

    let unknown = used.iter().find(|name| !allowed.contains(name));
    let missing = required.iter().find(|name| !used.contains(name));
    let (name, problem) = match (unknown, missing) {
        (Some(name), _) => (name, "is not known here"),
        (None, Some(name)) => (name, "is missing"),
        (None, None) => return Ok(()),
    };

    let name = Name(name);
    let mut expected = format!("it may use {}", braced(&allowed));
    if !required.is_empty() {
        expected += &format!(", and must use {}", braced(&required));
    }

    Err(PromptsError(format!(
        "prompt `{prompt}`: `{{{name}}}` {problem}; {expected}"
    )))
}

fn braced(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("{{{name}}}")).collect();
    names.join(", ")
}

impl Default for Prompts {
    fn default() -> Self {
        Self::english()
    }
}
