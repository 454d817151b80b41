//! Recognizes the keys of a reply in the spellings that models use. Known keys distinguish keys
//! from text more reliably than the punctuation of YAML.

/// A key of a reply or of one of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Thinking,
    Planning,
    Needed,
    Description,
    Status,
    Result,
    Mark,
    SubSteps,
}

/// How much the spelling of a key differs, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spelling {
    Exact,
    /// A different case, spaces or dashes for `_`, quotes or asterisks around it.
    Variant,
    /// A different word.
    Synonym,
}

impl Key {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "current_thinking",
            Self::Planning => "planning",
            Self::Needed => "next_thought_needed",
            Self::Description => "description",
            Self::Status => "status",
            Self::Result => "result",
            Self::Mark => "mark",
            Self::SubSteps => "sub_steps",
        }
    }

    /// Returns the letters of its name.
    fn letters(self) -> &'static str {
        match self {
            Self::Thinking => "currentthinking",
            Self::Needed => "nextthoughtneeded",
            Self::SubSteps => "substeps",
            other => other.as_str(),
        }
    }
}

const TOP: [Key; 3] = [Key::Thinking, Key::Planning, Key::Needed];
const STEP: [Key; 5] = [
    Key::Description,
    Key::Status,
    Key::Result,
    Key::Mark,
    Key::SubSteps,
];

/// Synonyms of keys, in lower case and without separators.
const TOP_SYNONYMS: [(&str, Key); 8] = [
    ("thinking", Key::Thinking),
    ("currentthought", Key::Thinking),
    ("thought", Key::Thinking),
    ("plan", Key::Planning),
    ("steps", Key::Planning),
    ("plansteps", Key::Planning),
    ("nextthought", Key::Needed),
    ("needsnextthought", Key::Needed),
];
const STEP_SYNONYMS: [(&str, Key); 11] = [
    ("desc", Key::Description),
    ("step", Key::Description),
    ("task", Key::Description),
    ("name", Key::Description),
    ("title", Key::Description),
    ("state", Key::Status),
    ("results", Key::Result),
    ("outcome", Key::Result),
    ("steps", Key::SubSteps),
    ("subtasks", Key::SubSteps),
    ("children", Key::SubSteps),
];

/// The maximum number of bytes of a line that are searched for a key and its colon.
const REACH: usize = 64;

/// Returns the top-level key at the beginning of a text, in any spelling, but without synonyms.
pub(super) fn top_key(text: &str) -> Option<Key> {
    let text = text.strip_prefix("- ").unwrap_or(text);

    // Checking one letter excludes most lines. This matters because every line of a reply is
    // checked.
    let stands_before = |byte: &u8| {
        let is_blank = byte.is_ascii() && is_blank(char::from(*byte));
        is_blank || b"_-*`\"'".contains(byte)
    };
    let before = text.bytes().take(REACH).take_while(stands_before).count();

    let letter = text.as_bytes().get(before).filter(|_| before < REACH)?;
    if !matches!(letter.to_ascii_lowercase(), b'c' | b'p' | b'n') && letter.is_ascii() {
        return None;
    }

    top(text)
        .filter(|found| found.spelling < Spelling::Synonym)
        .map(|found| found.key)
}

/// A known key at the beginning of a text, and the text after its colon.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'t> {
    pub(super) key: Key,
    pub(super) spelling: Spelling,
    /// The text after the colon.
    rest: &'t str,
    /// Whether the name is followed by an ASCII colon and then whitespace or the end, as YAML
    /// requires.
    pub(super) spaced: bool,
}

impl<'t> Known<'t> {
    /// Returns the text after the colon, trimmed. This visits all whitespace at both ends, so it
    /// should only be used for single lines.
    pub(super) fn value(&self) -> &'t str {
        trimmed(self.rest)
    }
}

pub(super) fn top(text: &str) -> Option<Known<'_>> {
    known(text, &TOP, &TOP_SYNONYMS)
}

pub(super) fn step(text: &str) -> Option<Known<'_>> {
    known(text, &STEP, &STEP_SYNONYMS)
}

fn known<'t>(text: &'t str, keys: &[Key], synonyms: &[(&str, Key)]) -> Option<Known<'t>> {
    let Pair {
        name,
        rest,
        spaced,
        apart,
    } = pair(text)?;

    let exact = keys.iter().find(|key| key.as_str() == name);

    // A space is only known to be missing after a key that is spelled exactly.
    if let Some(key) = exact {
        return Some(Known {
            key: *key,
            spelling: Spelling::Exact,
            rest,
            spaced,
        });
    }

    let bare = letters(name);
    let bare = bare.as_str();
    let variant = keys.iter().find(|key| key.letters() == bare);
    let quoted = name.starts_with(['"', '\'', '“', '*', '`']);
    let separate = apart || quoted;

    if let Some(key) = variant.filter(|_| separate) {
        return Some(Known {
            key: *key,
            spelling: Spelling::Variant,
            rest,
            spaced,
        });
    }

    let synonym = synonyms
        .iter()
        .find(|(word, _)| *word == bare)
        .filter(|_| separate);
    synonym.map(|(_, key)| Known {
        key: *key,
        spelling: Spelling::Synonym,
        rest,
        spaced,
    })
}

/// A name before the first colon, and the text after it.
pub(super) struct Pair<'t> {
    pub(super) name: &'t str,
    /// The text after the colon.
    rest: &'t str,
    /// Whether the name is followed by an ASCII colon and then a space, a tab or the end.
    pub(super) spaced: bool,
    /// Whether the colon is followed by any whitespace or by nothing.
    apart: bool,
}

impl<'t> Pair<'t> {
    /// Returns the text after the colon, trimmed. This should only be used for single lines.
    pub(super) fn value(&self) -> &'t str {
        trimmed(self.rest)
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Splits a text at its first colon. A bold colon belongs to the name, as in `**status:** Done`.
pub(super) fn pair(text: &str) -> Option<Pair<'_>> {
    let colon = text
        .char_indices()
        .take(REACH)
        .find(|(_, c)| matches!(c, ':' | '：'))?;
    let (name, rest) = text.split_at_checked(colon.0)?;
    let rest = rest.get(colon.1.len_utf8()..)?;
    let rest = if name.starts_with("**") {
        rest.strip_prefix("**").unwrap_or(rest)
    } else {
        rest
    };

    let spaced = colon.1 == ':' && (rest.is_empty() || rest.starts_with([' ', '\t']));
    let apart = colon.1 == '：' || rest.is_empty() || rest.starts_with(is_blank);
    Some(Pair {
        name: name.trim_end(),
        rest,
        spaced,
        apart,
    })
}

/// Returns whether a character is whitespace of any kind, or an invisible mark.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}')
}

/// Returns the letters and digits of a name in lower case. The result is empty if the name contains
/// anything other than letters, digits and separators.
fn letters(name: &str) -> String {
    let between = |c: char| is_blank(c) || "_-*`\"'“”‘’".contains(c);
    let letters: String = name.chars().filter(|c| !between(*c)).collect();
    if letters.chars().all(char::is_alphanumeric) {
        letters.to_lowercase()
    } else {
        String::new()
    }
}
