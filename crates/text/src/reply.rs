use std::fmt;

use crate::MultiLine;

/// The reply of a model, as the last lines of the long form (`{:#}`) of an error.
///
/// It begins with a line break and shows at most 1,000 characters of the reply, with unsafe
/// characters replaced as in [`MultiLine`].
///
/// ```
/// use cogwork_text::ReplyExcerpt;
///
/// let error = format!("no number in the reply{}", ReplyExcerpt("I don't\nknow.\u{1b}"));
/// assert_eq!(error, "no number in the reply\nthe reply:\nI don't\nknow.\u{fffd}");
/// assert_eq!(ReplyExcerpt(" ").to_string(), "\nthe reply is empty");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReplyExcerpt<'a>(pub &'a str);

impl ReplyExcerpt<'_> {
    /// The maximum number of characters of a reply that are shown.
    pub const MAX_CHARS: usize = 1_000;
}

impl fmt::Display for ReplyExcerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reply = self.0.trim_end();
        if reply.is_empty() {
            return f.write_str("\nthe reply is empty");
        }

        let reply = MultiLine::new(reply).with_max_chars(Self::MAX_CHARS);
        write!(f, "\nthe reply:\n{reply}")
    }
}
