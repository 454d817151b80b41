//! Skips the thinking of a reasoning model at the beginning of a reply.

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Where a reply is relative to its thinking. A closing tag without an opening one needs no state:
/// what comes before it contains no key of a reply, or isn't thinking.
#[derive(Debug, Clone)]
pub(super) enum Tags {
    /// The blanks and the part of an opening tag with which the reply begins.
    Start(String),
    /// The thinking. `matched` is the number of bytes of the closing tag so far.
    Inside {
        closing: &'static str,
        matched: usize,
    },
    Outside,
}

pub(super) enum Taken {
    /// The character belongs to the thinking or its tags, for now.
    Skipped,
    /// The character belongs to the reply.
    Outside,
    /// There is no thinking, so the beginning belongs to the reply, and so does the character.
    NoTag(String),
}

impl Default for Tags {
    fn default() -> Self {
        Self::Start(String::new())
    }
}

impl Tags {
    pub(super) fn take(&mut self, character: char) -> Taken {
        match self {
            Self::Outside => Taken::Outside,
            Self::Inside { closing, matched } => {
                *matched = matched_after(closing, *matched, character);

                if *matched == closing.len() {
                    *self = Self::Outside;
                }
                Taken::Skipped
            }
            Self::Start(start) if start.is_empty() && is_blank(character) => Taken::Skipped,
            Self::Start(start) => {
                start.push(character);
                let opened = TAGS.iter().find(|(opening, _)| opening == start);

                if let Some((_, closing)) = opened {
                    *self = Self::Inside {
                        closing,
                        matched: 0,
                    };
                    return Taken::Skipped;
                }
                if TAGS
                    .iter()
                    .any(|(opening, _)| opening.starts_with(&**start))
                {
                    return Taken::Skipped;
                }

                start.pop();
                let before = std::mem::take(start);
                *self = Self::Outside;
                Taken::NoTag(before)
            }
        }
    }
}

/// Returns how much of a closing tag is matched after one more character. A `<` is only at its
/// beginning, so nothing else has to be compared again.
fn matched_after(closing: &str, matched: usize, character: char) -> usize {
    let expected = closing.get(matched..).and_then(|rest| rest.chars().next());

    if expected == Some(character) {
        matched + character.len_utf8()
    } else {
        usize::from(character == '<')
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}
