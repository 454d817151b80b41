use std::fmt::{self, Write};

use crate::MultiLine;

/// A text inside the quotes of a Mermaid label. Line breaks are kept. Characters with a special
/// meaning in Mermaid, Markdown or HTML are written as entities.
///
/// ```
/// use cogwork_text::MermaidLabel;
///
/// assert_eq!(MermaidLabel(r#"say "hi" & <b>go</b>"#).to_string(), "say #34;hi#34; #38; #60;b#62;go#60;/b#62;");
/// assert_eq!(MermaidLabel("1. two\nlines").to_string(), "1#46; two<br/>lines");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MermaidLabel<T>(pub T);

impl<T: fmt::Display> fmt::Display for MermaidLabel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = MultiLine::new(&self.0).to_string();

        if text.is_empty() {
            return f.write_char(' '); // Mermaid refuses an empty label.
        }

        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                f.write_str("<br/>")?;
            }
            write_line(f, line)?;
        }

        Ok(())
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, line: &str) -> fmt::Result {
    let sign = block_sign(line);
    let mut before = None;
    let mut rest = line.char_indices();

    while let Some((at, character)) = rest.next() {
        let after = rest.as_str();

        match character {
            // Markdown would begin a code block.
            '\t' => f.write_char(' ')?,
            // Entities of Mermaid have no `&`.
            _ if Some(at) == sign || is_read(before, character, after) => {
                write!(f, "#{};", u32::from(character))?;
            }
            _ => f.write_char(character)?,
        }

        before = Some(character);
    }

    Ok(())
}

/// Returns the position of the character that makes Markdown interpret a line as a list, a rule, a
/// heading or code, such as `-` in `- x` or `.` in `1. x`.
fn block_sign(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let indent = line.len() - text.len();

    // Blanks at the beginning make Markdown read code or a list.
    if indent > 0 {
        return Some(0);
    }

    if text.starts_with(['-', '+', '=']) {
        return Some(0);
    }

    let number = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let after_sign = number.strip_prefix(['.', ')']);
    let is_item = number.len() < text.len()
        && after_sign.is_some_and(|after| after.is_empty() || after.starts_with(' '));

    is_item.then(|| text.len() - number.len())
}

/// Returns whether a character has a special meaning between the one before it and the text after
/// it.
fn is_read(before: Option<char>, character: char, after: &str) -> bool {
    match character {
        '"' | '#' | ';' => true,        // Mermaid: the end of a label, entities
        '%' => true,                    // Mermaid: `%%{…}%%` is an instruction wherever it is
        '$' => true,                    // Mermaid: two begin a formula
        '&' | '<' | '>' => true,        // HTML
        '`' | '\\' | '*' | '~' => true, // Markdown
        '[' | '|' | '@' => true,        // Markdown: links, tables, addresses
        ':' => after.starts_with("fa-") || after.starts_with("//"), // Mermaid: icons; Markdown: links
        '_' => !is_inside_word(before, after), // Markdown: emphasis, but not in `snake_case`
        _ => false,
    }
}

fn is_inside_word(before: Option<char>, after: &str) -> bool {
    let after = after.chars().next();

    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
}
