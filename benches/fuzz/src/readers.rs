//! The readers of text from elsewhere, with the tokens of what they read.

use std::sync::LazyLock;

use cogwork_agents::Loader;
use cogwork_cot::{Prompts, Reasoning, Reply};
use cogwork_strategies::session::Session;
use cogwork_strategies::table::Parameter;
use cogwork_strategies::{Ask, Strategies};
use cogwork_typed::ask::Format;
use serde_json::json;

use crate::typed;

/// A reader of text from elsewhere.
pub struct Reader {
    /// What it reads.
    pub name: &'static str,
    /// The tokens of its grammar, as a dictionary of libFuzzer.
    pub dictionary: &'static str,
    /// What its texts may begin with, so that what follows is read at all.
    pub beginnings: &'static [&'static str],
    /// Reads a text.
    pub read: fn(&str),
}

/// Every reader of what a model says or a file holds.
pub const READERS: [Reader; 9] = [
    Reader {
        name: "replies",
        dictionary: include_str!("../dictionaries/reply.dict"),
        beginnings: &[
            "",
            "```yaml\ncurrent_thinking: a\nplanning:\n- description: b\n",
        ],
        read: |text| drop(Reply::read(text)),
    },
    Reader {
        name: "stage replies",
        dictionary: include_str!("../dictionaries/table.dict"),
        beginnings: &["", "thought: a\nplan: "],
        read: |text| {
            stage_asks()
                .iter()
                .for_each(|ask| drop(ask.read_on(Format::Text, text)))
        },
    },
    Reader {
        name: "stage replies in JSON",
        dictionary: include_str!("../dictionaries/stage_json.dict"),
        beginnings: &["", "{\"thought\": \"a\", \"plan\": "],
        // Objects that are nested too deeply are tried up to eight times.
        read: |text| {
            for ask in stage_asks() {
                drop(ask.read_on(Format::Schema, text));
            }
        },
    },
    Reader {
        name: "typed answers",
        dictionary: include_str!("../dictionaries/typed.dict"),
        beginnings: &["", "{\"name\": \"a\", \"children\": [", "name: a\ntags:\n"],
        // Each value of an object may have to fit several forms.
        read: typed::read_each,
    },
    Reader {
        name: "tables in YAML",
        dictionary: include_str!("../dictionaries/table.dict"),
        beginnings: &["", "a:\n  description: b\n  stages:\n    c:\n"],
        read: |text| drop(Strategies::from_yaml(text)),
    },
    Reader {
        name: "flow files",
        dictionary: include_str!("../dictionaries/flow.dict"),
        beginnings: &["", "nodes:\n- id: a\n  type: agent\n  config:\n"],
        read: |text| drop(LOADER.load_text("flow.yaml", text)),
    },
    Reader {
        name: "prompts",
        dictionary: include_str!("../dictionaries/prompts.dict"),
        beginnings: &["", "system: |\n"],
        read: |text| drop(Prompts::from_yaml(text)),
    },
    Reader {
        name: "saved states",
        dictionary: include_str!("../dictionaries/json.dict"),
        beginnings: &["", "{\"problem\": \"a\", \"thoughts\": ["],
        read: |text| drop(serde_json::from_str::<Reasoning>(text)),
    },
    Reader {
        name: "snapshots of sessions",
        dictionary: include_str!("../dictionaries/json.dict"),
        beginnings: &["", "{\"version\": 1, \"strategy\": \"linear\", "],
        read: |text| drop(serde_json::from_str::<Session>(text)),
    },
];

/// With the schema, which is made when it is first asked for.
static LOADER: LazyLock<Loader> = LazyLock::new(Loader::new);

impl Reader {
    /// The tokens of the grammar.
    pub fn tokens(&self) -> Vec<String> {
        tokens(self.dictionary)
    }
}

/// The tokens of a dictionary of libFuzzer.
pub fn tokens(dictionary: &str) -> Vec<String> {
    dictionary
        .lines()
        .filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'))
        .map(|token| {
            token
                .replace("\\x0a", "\n")
                .replace("\\x09", "\t")
                .replace("\\\"", "\"")
                .replace("\\\\", "\\")
        })
        .collect()
}

/// A question for each type of field.
fn stage_asks() -> Vec<Ask> {
    let kinds = [
        json!({"type": "string"}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "object", "additionalProperties": {"type": "array"}}),
    ];

    let ask = || Ask::new("Go on.");
    let field = |kind| Parameter::new(kind, "A field.");
    let of_kinds = kinds.into_iter().map(|kind| {
        ask()
            .with_field("plan", field(kind))
            .with_field("thought", Parameter::text("A field."))
    });
    of_kinds.chain([ask()]).collect()
}
