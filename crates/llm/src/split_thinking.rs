/// The thinking and the answer of a reasoning model.
///
/// Some servers leave a model's thinking in the text of the reply, between `<think>` and `</think>`
/// (or `<thinking>` and `</thinking>`). Others remove the opening tag, or the reply is truncated
/// before the closing tag.
///
/// ```
/// use cogwork_llm::backend::split_thinking;
///
/// let split = split_thinking("<think>2 + 2 is easy.</think>\n4").unwrap();
/// assert_eq!(split.thinking, "2 + 2 is easy.");
/// assert_eq!(split.answer, "\n4");
///
/// // A server removed the opening tag.
/// assert_eq!(split_thinking("2 + 2 is easy.</think>4").unwrap().answer, "4");
/// // The reply was cut off before the answer.
/// assert_eq!(split_thinking("<think>2 + 2 is").unwrap().answer, "");
/// // No tag begins or ends any thinking.
/// assert!(split_thinking("The tag <think> begins it.").is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SplitThinking<'t> {
    /// The thinking without its tags.
    pub thinking: &'t str,
    /// The text after the thinking. Empty if the thinking has no closing tag.
    pub answer: &'t str,
    /// Whether there is an opening tag. Without one, the closing tag may be part of the reply
    /// itself, so check the answer if its form is known.
    pub is_opened: bool,
}

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Splits a reply into the thinking at its beginning and the answer after it.
///
/// Returns `None` if the reply doesn't contain any thinking.
pub fn split_thinking(text: &str) -> Option<SplitThinking<'_>> {
    let trimmed = text.trim_start();

    for (opening, closing) in TAGS {
        if let Some(rest) = trimmed.strip_prefix(opening) {
            // A reply that was cut off within its thinking has no answer.
            let (thinking, answer) = rest.split_once(closing).unwrap_or((rest, ""));
            return Some(SplitThinking {
                thinking,
                answer,
                is_opened: true,
            });
        }
    }

    // Chat templates that write the opening tag themselves leave only the closing one in the reply.
    TAGS.iter().find_map(|(_, closing)| {
        let (thinking, answer) = text.split_once(closing)?;
        Some(SplitThinking {
            thinking,
            answer,
            is_opened: false,
        })
    })
}
