use std::fmt::{self, Write};

use crate::{Block, ChatRequest, Message, ReplyFormat, ToolChoice};

/// The number of characters shown on each side of a difference.
const AROUND: usize = 30;
/// The maximum number of lines of the whole difference.
const LINES: usize = 20;

/// The name of a setting and a function that displays it.
type Setting = (&'static str, fn(&ChatRequest) -> String);

/// How far the conversations or texts of two requests are the same. The larger, the more similar they are.
///
/// Cheaper than a [`Difference`], so that each recording of a long cassette can be compared.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nearness {
    equal_messages: usize,
    /// The length of the common prefix of the first differing message, in characters.
    equal_characters: usize,
}

impl Nearness {
    pub(super) fn of_messages(recorded: &ChatRequest, asked: &ChatRequest) -> Self {
        Self::of(recorded.messages().iter(), asked.messages().iter(), whole)
    }

    pub(super) fn of_texts(recorded: &[String], asked: &[String]) -> Self {
        Self::of(recorded.iter(), asked.iter(), String::clone)
    }

    fn of<'a, T: PartialEq + 'a>(
        mut before: impl Iterator<Item = &'a T>,
        mut now: impl Iterator<Item = &'a T>,
        whole: fn(&T) -> String,
    ) -> Self {
        let mut equal_messages = 0;

        loop {
            let before = before.next();
            let now = now.next();

            if before.is_some() && before == now {
                equal_messages += 1;
                continue;
            }

            let before = before.map(whole).unwrap_or_default();
            let now = now.map(whole).unwrap_or_default();
            return Self {
                equal_messages,
                equal_characters: in_common(&before, &now),
            };
        }
    }
}

/// The difference between a request and a recorded one.
#[derive(Default)]
pub(super) struct Difference {
    /// In the order of the request.
    parts: Vec<Part>,
}

/// A place with its recorded and its requested value.
struct Part {
    place: String,
    before: String,
    now: String,
}

impl Difference {
    pub(super) fn of_requests(recorded: &ChatRequest, asked: &ChatRequest) -> Self {
        let mut difference = Self::default();
        difference.add_messages(recorded, asked);
        difference.add_settings(recorded, asked);
        difference
    }

    pub(super) fn of_texts(recorded: &[String], asked: &[String]) -> Self {
        let longer = recorded.len().max(asked.len());
        let places = 0..longer;
        let differing = places.filter(|place| recorded.get(*place) != asked.get(*place));

        Self {
            parts: differing
                .map(|place| Part::of_text(place, recorded.get(place), asked.get(place)))
                .collect(),
        }
    }

    fn add_messages(&mut self, recorded: &ChatRequest, asked: &ChatRequest) {
        let mut before = recorded.messages().iter();
        let mut now = asked.messages().iter();
        let longer = before.len().max(now.len());

        for place in 0..longer {
            let before = before.next();
            let now = now.next();
            if before != now {
                self.add_message(format!("messages[{place}]"), before, now);
            }
        }
    }

    fn add_message(&mut self, place: String, before: Option<&Message>, now: Option<&Message>) {
        let whole_before = before.map(whole);
        let whole_now = now.map(whole);
        let common = in_common(
            whole_before.as_deref().unwrap_or_default(),
            whole_now.as_deref().unwrap_or_default(),
        );
        let roles_are_equal = before.map(Message::role) == now.map(Message::role);
        let part = if whole_before == whole_now && roles_are_equal {
            Part {
                place,
                before: said(before, 0),
                now: format!("{} with different data", said(now, 0)),
            }
        } else {
            Part {
                place,
                before: said(before, common),
                now: said(now, common),
            }
        };
        self.parts.push(part);
    }

    fn add_settings(&mut self, recorded: &ChatRequest, asked: &ChatRequest) {
        let short: [Setting; 4] = [
            ("max_tokens", |request| shown(request.max_tokens())),
            ("temperature", |request| shown(request.temperature())),
            ("seed", |request| shown(request.seed())),
            ("stop", |request| format!("{:?}", request.stop())),
        ];
        for (name, setting) in short {
            self.add_setting(name, setting(recorded), setting(asked));
        }

        let long: [Setting; 2] = [("format", form), ("tools", tools)];
        for (name, setting) in long {
            let before = setting(recorded);
            let now = setting(asked);
            let common = in_common(&before, &now);
            self.add_setting(name, excerpt(&before, common), excerpt(&now, common));
        }

        self.add_setting("tool_choice", choice(recorded), choice(asked));
    }

    fn add_setting(&mut self, name: &str, before: String, now: String) {
        if before != now {
            self.parts.push(Part {
                place: name.to_owned(),
                before,
                now,
            });
        }
    }

    /// Returns the number of places that differ.
    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Returns the whole difference, in lines.
    pub(super) fn whole(&self) -> String {
        let mut whole = String::new();
        for Part { place, before, now } in self.parts.iter().take(LINES) {
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

impl Part {
    fn of_text(place: usize, before: Option<&String>, now: Option<&String>) -> Self {
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let common = in_common(&text(before), &text(now));
        let shown = |text: Option<&String>| {
            text.map_or_else(|| "missing".to_owned(), |text| excerpt(text, common))
        };

        Self {
            place: format!("texts[{place}]"),
            before: shown(before),
            now: shown(now),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts.first() {
            Some(Part { place, before, now }) => write!(
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
