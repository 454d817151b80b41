use std::fmt::{self, Write};

use crate::{Block, ChatRequest, Message, ReplyFormat, ToolChoice};

/// The number of characters shown on each side of a difference.
const AROUND: usize = 30;
/// The maximum number of lines of the whole difference.
const LINES: usize = 20;

/// The difference between a request and a recorded one.
pub(super) struct Difference {
    /// The place, the recorded value and the requested value, in the order of the request.
    parts: Vec<(String, String, String)>,
    equal_messages: usize,
    /// The length of the common prefix of the first differing message, in characters.
    equal_characters: usize,
}

impl Difference {
    pub(super) fn of(recorded: &ChatRequest, asked: &ChatRequest) -> Self {
        let (before, now): (Vec<_>, Vec<_>) = (
            recorded.messages().iter().collect(),
            asked.messages().iter().collect(),
        );
        let mut difference = Self {
            parts: Vec::new(),
            equal_messages: 0,
            equal_characters: 0,
        };

        let longer = before.len().max(now.len());
        for place in 0..longer {
            let before = before.get(place).copied();
            let now = now.get(place).copied();
            if before == now {
                difference.equal_messages += usize::from(difference.parts.is_empty());
                continue;
            }

            let whole_before = before.map(whole);
            let whole_now = now.map(whole);
            let common = in_common(
                whole_before.as_deref().unwrap_or_default(),
                whole_now.as_deref().unwrap_or_default(),
            );
            if difference.parts.is_empty() {
                difference.equal_characters = common;
            }

            let (before, now) = if whole_before == whole_now
                && before.map(Message::role) == now.map(Message::role)
            {
                (
                    said(before, 0),
                    format!("{} with different data", said(now, 0)),
                )
            } else {
                (said(before, common), said(now, common))
            };

            difference
                .parts
                .push((format!("messages[{place}]"), before, now));
        }

        let mut setting = |name: &str, before: String, now: String| {
            if before != now {
                difference.parts.push((name.to_owned(), before, now));
            }
        };

        setting(
            "max_tokens",
            shown(recorded.max_tokens()),
            shown(asked.max_tokens()),
        );

        setting(
            "temperature",
            shown(recorded.temperature()),
            shown(asked.temperature()),
        );

        setting("seed", shown(recorded.seed()), shown(asked.seed()));
        setting(
            "stop",
            format!("{:?}", recorded.stop()),
            format!("{:?}", asked.stop()),
        );

        for (name, long) in [
            ("format", form as fn(&ChatRequest) -> String),
            ("tools", tools),
        ] {
            let before = long(recorded);
            let now = long(asked);
            let common = in_common(&before, &now);
            setting(name, excerpt(&before, common), excerpt(&now, common));
        }

        setting("tool_choice", choice(recorded), choice(asked));
        difference
    }

    /// Returns a measure of similarity: larger is more similar.
    pub(super) fn nearness(&self) -> impl Ord + use<> {
        (
            self.equal_messages,
            self.equal_characters,
            std::cmp::Reverse(self.parts.len()),
        )
    }

    /// Returns the whole difference, in lines.
    pub(super) fn whole(&self) -> String {
        let mut whole = String::new();
        for (place, before, now) in self.parts.iter().take(LINES) {
            // Writing to a string cannot fail.
            let _ = write!(whole, "{place}\n- {before}\n+ {now}\n");
        }

        if let Some(more) = self.parts.len().checked_sub(LINES + 1) {
            let _ = write!(whole, "and {} more", more + 1);
        }

        whole.truncate(whole.trim_end().len());
        whole
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts.first() {
            Some((place, before, now)) => write!(
                f,
                "{place} is {before} in the recording and {now} in the request"
            ),
            // Only NaN, which is unequal to itself, leads here.
            None => f.write_str("there is no difference that can be shown"),
        }
    }
}

/// Returns the length of the common prefix of two texts, in characters.
fn in_common(one: &str, other: &str) -> usize {
    one.chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count()
}

/// Returns a message around the place where the difference begins.
fn said(message: Option<&Message>, common: usize) -> String {
    message.map_or_else(
        || "missing".to_owned(),
        |message| format!("{} {}", message.role(), excerpt(&whole(message), common)),
    )
}

/// Returns a message as one text, without the data of images and files.
fn whole(message: &Message) -> String {
    let mut whole = String::new();
    if let (Some(id), Some(name)) = (message.tool_call_id(), message.tool_name()) {
        let what = if message.is_tool_failure() {
            "failure"
        } else {
            "result"
        };
        let _ = write!(whole, "[{what} of {id}, {name}] ");
    }

    for block in message.blocks() {
        let _ = match block {
            Block::Image { media_type, .. } => write!(whole, "[image, {media_type}] "),
            Block::ImageUrl { url } => write!(whole, "[image at {url}] "),
            Block::File {
                name, media_type, ..
            } => write!(whole, "[file {name}, {media_type}] "),
        };
    }

    whole.push_str(message.text());
    for call in message.tool_calls() {
        let _ = write!(
            whole,
            " [call {}, {} {}]",
            call.id(),
            call.name(),
            call.arguments()
        );
    }

    whole
}

fn excerpt(text: &str, common: usize) -> String {
    let start = common.saturating_sub(AROUND);
    let mut rest = text.chars().skip(start);
    let part: String = rest.by_ref().take(2 * AROUND).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };

    format!("{before}{part:?}{after}")
}

fn form(request: &ChatRequest) -> String {
    match request.format() {
        None => "free text".to_owned(),
        Some(ReplyFormat::Json) => "JSON".to_owned(),
        Some(ReplyFormat::Schema { name, schema }) => format!("{name}: {schema}"),
    }
}

fn tools(request: &ChatRequest) -> String {
    let tools = request.tools().iter();
    let tools = tools.map(|tool| {
        format!(
            "{}: {} {}",
            tool.name(),
            tool.description(),
            tool.input_schema()
        )
    });

    tools.collect::<Vec<_>>().join("; ")
}

fn choice(request: &ChatRequest) -> String {
    match request.tool_choice() {
        None => "not set".to_owned(),
        Some(ToolChoice::Auto) => "auto".to_owned(),
        Some(ToolChoice::None) => "none".to_owned(),
        Some(ToolChoice::Required) => "required".to_owned(),
        Some(ToolChoice::Tool(name)) => format!("the tool {name}"),
    }
}

fn shown(setting: Option<impl fmt::Display>) -> String {
    setting.map_or_else(|| "not set".to_owned(), |value| value.to_string())
}
