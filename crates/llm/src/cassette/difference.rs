use std::fmt::{self, Write};

use crate::{ChatRequest, Message, ReplyFormat};

/// How much of a text is shown on each side of the place where it differs, in characters.
const AROUND: usize = 30;
/// How many lines the whole difference has at most.
const LINES: usize = 20;

/// Where a request differs from a recorded one.
pub(super) struct Difference {
    /// Place, what is recorded there, what is asked there; in the order of the request.
    parts: Vec<(String, String, String)>,
    equal_messages: usize,
    /// How many characters the first message that differs has in common with the recorded one.
    equal_characters: usize,
}

impl Difference {
    pub(super) fn of(recorded: &ChatRequest, asked: &ChatRequest) -> Self {
        let (before, now): (Vec<_>, Vec<_>) =
            (recorded.messages().iter().collect(), asked.messages().iter().collect());
        let mut difference = Self { parts: Vec::new(), equal_messages: 0, equal_characters: 0 };
        let longer = before.len().max(now.len());
        for place in 0..longer {
            let (before, now) = (before.get(place).copied(), now.get(place).copied());
            if before == now {
                difference.equal_messages += usize::from(difference.parts.is_empty());
                continue;
            }
            let common = in_common(before.map_or("", Message::text), now.map_or("", Message::text));
            if difference.parts.is_empty() {
                difference.equal_characters = common;
            }
            difference.parts.push((format!("messages[{place}]"), said(before, common), said(now, common)));
        }
        let mut setting = |name: &str, before: String, now: String| {
            if before != now {
                difference.parts.push((name.to_owned(), before, now));
            }
        };
        setting("max_tokens", shown(recorded.max_tokens()), shown(asked.max_tokens()));
        setting("temperature", shown(recorded.temperature()), shown(asked.temperature()));
        setting("seed", shown(recorded.seed()), shown(asked.seed()));
        setting("stop", format!("{:?}", recorded.stop()), format!("{:?}", asked.stop()));
        let (before, now) = (form(recorded), form(asked));
        let common = in_common(&before, &now);
        setting("format", excerpt(&before, common), excerpt(&now, common));
        difference
    }

    /// The larger, the less it differs.
    pub(super) fn nearness(&self) -> impl Ord + use<> {
        (self.equal_messages, self.equal_characters, std::cmp::Reverse(self.parts.len()))
    }

    /// All of it, in lines.
    pub(super) fn whole(&self) -> String {
        let mut whole = String::new();
        for (place, before, now) in self.parts.iter().take(LINES) {
            // Writing to a string does not fail.
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
            Some((place, before, now)) => write!(f, "there {place} is {before}, here {now}"),
            // Only a number that is not equal to itself does this.
            None => f.write_str("it differs in nothing that can be shown"),
        }
    }
}

/// How many characters at the start of two texts are the same.
fn in_common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// A message around the place where it begins to differ.
fn said(message: Option<&Message>, common: usize) -> String {
    message.map_or_else(
        || "missing".to_owned(),
        |message| format!("{} {}", message.role(), excerpt(message.text(), common)),
    )
}

fn excerpt(text: &str, common: usize) -> String {
    let start = common.saturating_sub(AROUND);
    let mut rest = text.chars().skip(start);
    let part: String = rest.by_ref().take(2 * AROUND).collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    format!("{before}{part:?}{after}")
}

fn form(request: &ChatRequest) -> String {
    match request.format() {
        None => "free text".to_owned(),
        Some(ReplyFormat::Json) => "JSON".to_owned(),
        Some(ReplyFormat::Schema { name, schema }) => format!("{name}: {schema}"),
    }
}

fn shown(setting: Option<impl fmt::Display>) -> String {
    setting.map_or_else(|| "not set".to_owned(), |value| value.to_string())
}
