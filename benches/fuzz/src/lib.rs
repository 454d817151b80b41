//! What must hold for any text that a model or a file may bring: a value or an error, never a panic, and
//! of a value that it is whole.
//!
//! ```text
//! cargo +nightly fuzz run --features programs --fuzz-dir benches/fuzz reply -- -dict=benches/fuzz/dictionaries/reply.dict
//! cargo run -p cogwork-fuzz --features programs --bin reply -- FILE …     # what a finding does, with any toolchain
//! ```
//!
//! Each target is a function here, so that `cargo test` runs it too, over texts of its own.

use cogwork_agents::Loader;
use cogwork_cot::Reply;
use cogwork_llm::ScriptedClient;
use cogwork_plan::Plan;
use cogwork_strategies::session::Session;
use cogwork_strategies::{Solver, Strategies, StrategyName};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::{Format, Limits};

pub mod readers;
mod typed;
pub use typed::typed_answer;

/// The main function of a target: fed by libFuzzer where cargo-fuzz builds it, by files elsewhere.
#[macro_export]
macro_rules! target {
    ($target:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $target(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            std::env::args_os()
                .skip(1)
                .try_for_each(|file| std::fs::read(file).map(|data| $target(&data)))
        }
    };
}

/// The reader of replies: whatever it makes out, written as a reply, reads back equal without a repair.
///
/// # Panics
///
/// Where that does not hold.
pub fn reply(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(read) = Reply::read(&text) else {
        return;
    };

    let written = read.reply.to_string();
    let again = Reply::read(&written);
    let again = again.map(|again| (again.reply, again.repairs.len()));
    assert_eq!(again, Ok((read.reply, 0)), "what was made out reads back");
}

/// A good reply with one kind of damage, which the first byte chooses, at a place that the second chooses,
/// made of the text of the rest.
///
/// # Panics
///
/// As [`reply`].
pub fn damaged_reply(data: &[u8]) {
    let [kind, place, rest @ ..] = data else {
        return;
    };

    let inserted = String::from_utf8_lossy(rest);
    let whole = "```yaml\ncurrent_thinking: |\n  Two and two: four.\nplanning:\n- description: Add\n  \
                 status: Done\n  result: 4\n  sub_steps:\n  - description: Count\n    status: Done\n\
                 - description: Conclusion\n  status: Pending\nnext_thought_needed: true\n```";
    let lines: Vec<&str> = whole.lines().collect();
    let at = usize::from(*place) % lines.len();
    let line = lines.get(at).copied().unwrap_or_default();
    let (key, value) = line.split_once(": ").unwrap_or((line, ""));
    let damaged = match kind % 16 {
        0 => format!("{line}{inserted}"),
        1 => format!("{inserted}{line}"),
        2 => format!("{key}: {inserted}"),
        3 => format!("{key}: \"{inserted}"),
        4 => format!("{key}: '{value}' {inserted}"),
        5 => format!("{key}: {value} # {inserted}"),
        6 => format!("\t{line}"),
        7 => format!("   {line}\n{inserted}"),
        8 => format!("{line}\n{line}{inserted}"),
        9 => format!("{key}: [{inserted}"),
        10 => format!("{key}: {{{inserted}"),
        11 => format!("{key}: |\n{inserted}"),
        12 => format!("- [{inserted}] {value}"),
        13 => format!("{}: {value}", key.to_uppercase()),
        14 => format!("{line}\r"),
        _ => String::new(),
    };

    let cut = if kind % 16 == 15 { at } else { lines.len() };
    let text: Vec<&str> = lines
        .iter()
        .enumerate()
        .take(cut)
        .map(|(n, line)| if n == at { &damaged } else { *line })
        .collect();

    reply(text.join("\n").as_bytes());
}

/// A plan from YAML: written and read again it is the same, and all its renderings are done.
///
/// # Panics
///
/// Where that does not hold.
pub fn plan(data: &[u8]) {
    // The YAML library is quadratic on nested flow mappings, so only texts of the size of a page.
    let text = String::from_utf8_lossy(data.get(..4096).unwrap_or(data));
    let Ok(plan) = serde_yaml::from_str::<Plan>(&text) else {
        return;
    };

    let written = serde_json::to_string(&plan).unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<Plan>(&written).ok().as_ref(),
        Some(&plan),
        "{written}"
    );

    for rendered in [plan.outline().to_string(), plan.mermaid().to_string()] {
        assert!(plan.is_empty() || !rendered.is_empty());
    }

    let _ = (plan.progress(), plan.first_pending());
    assert!(
        plan.changes_since(&plan).is_empty(),
        "a plan does not differ from itself"
    );
}

/// A table of strategies: what is accepted can be written, drawn and read again.
///
/// # Panics
///
/// Where that does not hold.
pub fn strategy_table(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(strategies) = Strategies::from_yaml(&text) else {
        return;
    };

    for strategy in strategies.iter() {
        let _ = strategy.mermaid().to_string();
        let table = serde_json::to_string(strategy).unwrap_or_default();
        let again = serde_json::from_str(&table).ok();
        assert_eq!(again.as_ref(), Some(strategy), "{table}");
    }
}

/// The snapshot of a session: what is accepted is written as it was read.
///
/// # Panics
///
/// Where that does not hold.
pub fn session_snapshot(data: &[u8]) {
    let Ok(session) = serde_json::from_slice::<Session>(data) else {
        return;
    };

    let written = serde_json::to_string(&session).unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<Session>(&written).ok().as_ref(),
        Some(&session),
        "{written}"
    );
}

/// Every strategy in every format, with a model that repeats these texts, which are separated by NUL
/// characters. The run must end within its budget.
///
/// # Panics
///
/// Where that does not hold.
pub fn stage_replies(data: &[u8]) {
    let [first, rest @ ..] = data else { return };
    let text = String::from_utf8_lossy(rest);
    let replies: Vec<&str> = text.split('\0').take(12).collect();

    let first = usize::from(*first);
    let name = StrategyName::ALL[first % StrategyName::ALL.len()];
    let format = Format::ALL[first / StrategyName::ALL.len() % Format::ALL.len()];
    let client = ScriptedClient::new(replies.iter().copied().cycle().take(64));
    let echo = function(
        "echo",
        "Says it again.",
        |input: serde_json::Value| async move { Ok(input.to_string()) },
    );

    let tools = Tools::new().with(echo).unwrap_or_default();
    let budget = Limits::default().with_calls(32).with_thoughts(200);
    let solver = Solver::new(client, name)
        .with_tools(tools)
        .with_format(format)
        .with_limits(budget);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
    else {
        return;
    };

    match runtime.block_on(solver.solve("What is 17 * 3?")) {
        Ok(solved) => {
            assert!(solved.spent().calls <= 32 && solved.session().thoughts().len() <= 1200)
        }
        Err(error) => assert!(error.so_far().is_some(), "{error}"),
    }
}

/// A file of agents: it loads, or every problem names a place that is in it.
///
/// # Panics
///
/// Where that does not hold.
pub fn flow_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);

    // A carriage return alone ends a line for YAML, too, and older YAML knows three more ends. The end
    // of the text may be a line of its own.
    let lines = text
        .matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .count()
        + 2;
    match Loader::new().load_text("flow.yaml", &text) {
        Ok(loaded) => assert!(!loaded.flow().mermaid().to_string().is_empty()),
        Err(error) => {
            assert!(
                !error.problems().is_empty(),
                "a file is refused for a reason"
            );
            for problem in error.problems() {
                let place = problem.place;
                assert!(
                    place.is_none_or(|place| (1..=lines).contains(&place.line)),
                    "{problem}"
                );
            }
        }
    }
}
