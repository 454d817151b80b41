use std::fmt;

use crate::is_invisible;
use crate::limited::{limited, write_limited};

/// A name on one line: [invisible](is_invisible) characters are escaped as in Rust, and at most the
/// first 80 characters are shown.
///
/// For names, keys and labels, in which every character matters. Doesn't add quotes.
///
/// ```
/// use cogwork_text::Name;
///
/// assert_eq!(Name("a\nb\u{200d}c").to_string(), r"a\nb\u{200d}c");
/// assert_eq!(Name(&"x".repeat(81)).to_string(), "x".repeat(80) + "…");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Name<'a>(pub &'a str);

impl Name<'_> {
    /// The maximum number of characters of a name that are shown.
    pub const MAX_CHARS: usize = 80;
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped::new(self.0).with_max_chars(Self::MAX_CHARS).fmt(f)
    }
}

/// A text whose [invisible](is_invisible) characters are escaped as in Rust: `\n`, `\u{1b}`.
///
/// Like [`Name`], but of any length, for paths and identifiers from a server.
///
/// ```
/// use std::path::Path;
/// use cogwork_text::Escaped;
///
/// let path = Path::new("notes\u{202e}.txt");
/// assert_eq!(Escaped::new(path.display()).to_string(), r"notes\u{202e}.txt");
/// assert_eq!(Escaped::new("abcdef").with_max_chars(3).to_string(), "abc…");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Escaped<T> {
    text: T,
    max_chars: usize,
}

limited!(Escaped);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_limited(f, &self.text, self.max_chars, |out, character| {
            if is_invisible(character) {
                out.put(character.escape_default())
            } else {
                out.put(character)
            }
        })
    }
}

/// Names in a sentence: `` `a`, `b` or `c` ``. An empty list is shown as `none`. Names after the
/// first 30 are only counted: `` `a`, `b` and 3 more ``.
///
/// ```
/// use cogwork_text::NameList;
///
/// assert_eq!(NameList::and(["prep", "exec", "post"]).to_string(), "`prep`, `exec` and `post`");
/// assert_eq!(NameList::or(Vec::<String>::new()).to_string(), "none");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NameList<I> {
    names: I,
    conjunction: &'static str,
}

impl<I> NameList<I> {
    /// The maximum number of names shown.
    const MAX_NAMES: usize = 30;

    /// Joins the names with `and`.
    pub fn and(names: impl IntoIterator<IntoIter = I>) -> Self {
        Self {
            names: names.into_iter(),
            conjunction: "and",
        }
    }

    /// Joins the names with `or`.
    pub fn or(names: impl IntoIterator<IntoIter = I>) -> Self {
        Self {
            names: names.into_iter(),
            conjunction: "or",
        }
    }
}

impl<I> fmt::Display for NameList<I>
where
    I: Iterator<Item: AsRef<str>> + Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The conjunction comes before the last one, so their number must be known.
        let count = self.names.clone().count();

        if count == 0 {
            return f.write_str("none");
        }

        for (index, name) in self.names.clone().take(Self::MAX_NAMES).enumerate() {
            match index {
                0 => {}
                _ if index + 1 == count => write!(f, " {} ", self.conjunction)?,
                _ => f.write_str(", ")?,
            }
            write!(f, "`{}`", Name(name.as_ref()))?;
        }

        match count.saturating_sub(Self::MAX_NAMES) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
