//! Hostile replies around a usable one, shared by the tests of every crate that reads replies.

/// What becomes of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is used.
    Read,
    /// The model is asked again, and its next reply is used.
    AskedAgain,
    /// It ends the run with an error.
    Refused,
}

pub(crate) struct Hostile {
    pub(crate) name: &'static str,
    pub(crate) reply: String,
    pub(crate) outcome: Outcome,
}

/// The name of [`hostile_replies`] whose prose is longer than what readers of a form read.
#[allow(dead_code, reason = "not every crate has an exception")]
pub(crate) const LONG_PROSE: &str = "prose of 300 KiB before the reply";

/// Returns hostile replies. `usable` is a reply of several lines in the form that the reader asks for.
pub(crate) fn hostile_replies(usable: &str) -> Vec<Hostile> {
    let mut all = read(usable);
    all.extend(asked_again(usable));
    all.push(hostile("17 MiB", "a".repeat(17 << 20), Outcome::Refused));
    all
}

fn read(usable: &str) -> Vec<Hostile> {
    let cases = [
        ("as it was asked for", usable.to_owned()),
        ("in a fence", format!("```\n{usable}\n```")),
        ("in a fence with a label", format!("```text\n{usable}\n```")),
        ("after prose", format!("Sure! Here it is:\n\n{usable}")),
        (
            "a fence after prose",
            format!("Sure! Here it is:\n\n```\n{usable}\n```"),
        ),
        (
            "after thinking",
            format!("<think>\nEasy.\n</think>\n{usable}"),
        ),
        (
            "after thinking in longer tags",
            format!("<thinking>Easy.</thinking>\n{usable}"),
        ),
        (
            "after thinking without its opening tag",
            format!("Easy.\n</think>\n\n{usable}"),
        ),
        (
            "after a draft in the thinking",
            format!("<think>\n{usable}\nNo, wait.\n</think>\n{usable}"),
        ),
        ("after a byte order mark", format!("\u{feff}{usable}")),
        (
            "after control and bidirectional characters",
            format!("\u{1b}[2J\u{7}\u{202e}\u{2066}\n{usable}"),
        ),
        ("with carriage returns", usable.replace('\n', "\r\n")),
        (
            "after 10,000 empty lines",
            format!("{}{usable}", "\n".repeat(10_000)),
        ),
        (
            "before 10,000 empty lines",
            format!("{usable}{}", "\n".repeat(10_000)),
        ),
        (
            "after brackets that nothing closes",
            format!("{}\n\n{usable}", "[".repeat(1_000)),
        ),
    ];
    cases
        .into_iter()
        .map(|(name, reply)| hostile(name, reply, Outcome::Read))
        .collect()
}

fn asked_again(usable: &str) -> Vec<Hostile> {
    let half: String = usable.chars().take(usable.chars().count() / 2).collect();
    let aliases: String = (1..20)
        .map(|level| {
            format!(
                "b{level}: &b{level} [{}]\n",
                format!("*b{}, ", level - 1).repeat(9)
            )
        })
        .collect();

    let cases = [
        ("empty", String::new()),
        ("blanks", " \n\t \n".to_owned()),
        ("an empty fence", "```\n```".to_owned()),
        ("thinking alone", "<think>Easy.</think>".to_owned()),
        ("thinking without an end", "<think>Easy, so".to_owned()),
        (
            "a reply in the thinking alone",
            format!("<think>\n{usable}\n</think>"),
        ),
        (
            "a reply in thinking without an end",
            format!("<think>\n{usable}"),
        ),
        (
            "a refusal",
            "I'm sorry, but I can't help with that.".to_owned(),
        ),
        ("half a reply", half),
        ("a line of 300 KiB", "a".repeat(300 << 10)),
        (LONG_PROSE, format!("{}\n{usable}", "a ".repeat(150 << 10))),
        (
            "control and bidirectional characters",
            "\u{1b}[2J\u{0}\u{7}\u{202e}\u{2066}".to_owned(),
        ),
        ("deep brackets", "[".repeat(100_000)),
        ("deep objects", "{\"a\":".repeat(50_000)),
        ("deep lists", "- ".repeat(50_000)),
        ("many aliases", format!("b0: &b0 x\n{aliases}")),
        ("other JSON", "{\"reply\": \"unknown\"}".to_owned()),
        ("other YAML", "reply:\n  - unknown".to_owned()),
        (
            "a tool call as text",
            "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>".to_owned(),
        ),
        (
            "an error page",
            "<!doctype html><html><body>502</body></html>".to_owned(),
        ),
    ];
    cases
        .into_iter()
        .map(|(name, reply)| hostile(name, reply, Outcome::AskedAgain))
        .collect()
}

fn hostile(name: &'static str, reply: String, outcome: Outcome) -> Hostile {
    Hostile {
        name,
        reply,
        outcome,
    }
}
