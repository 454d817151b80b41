use std::fmt::{self, Write};

use crate::Plan;
use crate::text::indent;

/// The plan as the YAML list it is serialised as, so that a model gives it back in the form it saw.
///
/// Lossless: read as YAML, the text is the plan again. A text that YAML could take for anything else is
/// quoted as in JSON. No line break at the end; `[]` for a plan without steps.
///
/// ```
/// use cogwork_plan::{Plan, Step, format_plan_for_prompt};
///
/// let plan = Plan::from(vec![Step::done("Add: 3 and 4", "7"), Step::pending("Conclude")]);
/// assert_eq!(format_plan_for_prompt(&plan), r#"- description: "Add: 3 and 4"
///   status: Done
///   result: "7"
/// - description: Conclude
///   status: Pending"#);
/// ```
pub fn format_plan_for_prompt(plan: &Plan) -> String {
    Prompt(plan).to_string()
}

/// Written here and not by the YAML library, which recurses, can fail, and writes a text of several
/// lines as a block whose indentation models get wrong when they copy it.
struct Prompt<'a>(&'a Plan);

impl fmt::Display for Prompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("[]");
        }

        for (number, entry) in self.0.walk().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }

            let step = entry.step;
            indent(f, entry.depth - 1)?;
            write!(f, "- description: {}", Scalar(&step.description))?;
            let key = |f: &mut fmt::Formatter<'_>, name: &str| {
                f.write_str("\n")?;
                indent(f, entry.depth)?;
                write!(f, "{name}:")
            };

            key(f, "status")?;
            write!(f, " {}", step.status)?;
            for (name, text) in [("result", &step.result), ("mark", &step.mark)] {
                if let Some(text) = text {
                    key(f, name)?;
                    write!(f, " {}", Scalar(text))?;
                }
            }

            if !step.sub_steps.is_empty() {
                key(f, "sub_steps")?;
            }
        }

        Ok(())
    }
}

/// A text as a YAML scalar on one line.
struct Scalar<'a>(&'a str);

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) {
            return f.write_str(self.0);
        }

        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                // None of these lies beyond four digits.
                c if needs_escape(c) => write!(f, "\\u{:04X}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }

        f.write_str("\"")
    }
}

/// What YAML does not take as it stands, or takes for a line break or the mark of an encoding.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Whether a text means itself without quotes, to this reader and to others: words that begin with a
/// letter, without what ends a scalar. Numbers and dates begin with none; the words that stand for
/// something else are known.
fn is_plain(text: &str) -> bool {
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(char::is_alphabetic)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text
            .chars()
            .any(|c| needs_escape(c) || (c.is_whitespace() && c != ' '))
        && !words.iter().any(|word| word.eq_ignore_ascii_case(text))
}
