//! Texts from models, tables, snapshots and files are always shown safely.

#[path = "../../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_strategies::session::SessionError;
use cogwork_strategies::{AskProblem, EndReason, Solver, Strategies, StrategyName};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::Limits;
use hostile::{assert_error_is_safe, assert_line_is_safe, assert_lines_are_safe, texts};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_session_errors(&text);
        show_tables(&text);
        show_values(&text);

        for name in StrategyName::ALL {
            show_solving(name, &text).await;
        }
    }
}

fn show_session_errors(text: &str) {
    for error in [SessionError::Refused, SessionError::Full] {
        assert_error_is_safe(&error(text.to_owned()));
    }
}

fn show_tables(text: &str) {
    let stage =
        json!({ text: text, "next": [text], "parameters": { text: { "type": text, text: 1 } } });
    let table =
        json!({ text: { "stages": { text: stage }, text: text, "start": text } }).to_string();
    for table in [table.as_str(), text] {
        if let Err(error) = Strategies::from_yaml(table) {
            error
                .problems()
                .iter()
                .for_each(|problem| assert_line_is_safe(problem));
            assert_error_is_safe(&error);
        }
    }
}

fn show_values(text: &str) {
    let why = text.to_owned();
    let stage = text.to_owned();
    for end in [EndReason::GaveUp { why }, EndReason::NoProgress { stage }] {
        assert_line_is_safe(&end);
    }
    for problem in [AskProblem::Client, AskProblem::Unreadable] {
        assert_line_is_safe(&problem(text.to_owned()));
    }

    if let Err(error) = text.parse::<StrategyName>() {
        assert_error_is_safe(&error);
    }
}

/// Runs of a strategy with a model that says the text everywhere, or fails with it.
async fn show_solving(name: StrategyName, text: &str) {
    let fields =
        "thought next action action_input answer branch_id verification hypothesis question plan";
    let labelled: String = fields
        .split(' ')
        .map(|field| format!("{field}: {text}\n"))
        .collect();
    let tool = function("echo", "Echoes.", |input: Value| async move {
        Ok(input.to_string())
    });
    let tools = Tools::new().with(tool).unwrap();

    let failure = LlmError::new(LlmErrorKind::Other, text).with_body(text);
    let script = [text, &labelled, "thought: a\nanswer: 1"]
        .into_iter()
        .cycle()
        .take(60);
    for client in [
        ScriptedClient::new([failure]),
        ScriptedClient::new(script.map(str::to_owned)),
    ] {
        let solver = Solver::new(client, name).with_tools(tools.clone());
        let problem = format!("problem {text}");
        match solver
            .with_limits(Limits::default().with_calls(20).with_thoughts(100))
            .solve(&problem)
            .await
        {
            Ok(solved) => {
                assert_lines_are_safe(&solved);
                assert_line_is_safe(solved.end().unwrap());
            }
            Err(error) => assert_error_is_safe(&error),
        }
    }

    assert_lines_are_safe(&name.strategy().mermaid());
}
