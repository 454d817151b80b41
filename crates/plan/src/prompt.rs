use std::fmt::{self, Write};

use crate::Plan;
use crate::text::indent;

/// Returns the plan as a YAML list, in the serialised form in which a model has to reply.
///
/// The text is lossless: reading it as YAML returns the same plan. Text that YAML would interpret
/// is quoted as in JSON. No line break is at the end. A plan without steps is `[]`.
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

/// Not written by the YAML library, which recurses, can fail, and writes multi-line text as a block
/// whose indentation models often copy wrongly.
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

            // A key without a value would be read as null.
            if !step.sub_steps.is_empty() {
                key(f, "sub_steps")?;
            }
        }

        Ok(())
    }
}

/// Text as a YAML scalar on one line.
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
                // All of these fit into four digits.
                c if needs_escape(c) => write!(f, "\\u{:04X}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }

        f.write_str("\"")
    }
}

/// Characters that YAML doesn't allow unquoted, or treats as a line break or byte order mark.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Returns whether text needs no quotes for any YAML reader: words that start with a letter,
/// without characters that end a scalar. Numbers and dates don't start with a letter, and the words
/// with a special meaning are listed.
fn is_plain(text: &str) -> bool {
    // YAML 1.1 reads these as something other than text.
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    // Most descriptions are plain, which models read and repeat best.
    text.starts_with(char::is_alphabetic)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text
            .chars()
            .any(|c| needs_escape(c) || (c.is_whitespace() && c != ' '))
        && !words.iter().any(|word| word.eq_ignore_ascii_case(text))
}
