//! Step-back: the principle, and its application.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Limits, Solver, StepBack, StrategyName};

use crate::methods::support::{conversation, only_append, told};

const PROBLEM: &str = "An ideal gas is heated to twice its temperature and let grow to eight times its volume. What becomes of its pressure?";
const REPLIES: [&str; 3] = [
    "thought: This is about gases.\nquestion: How do pressure, volume and temperature of a gas hang together?\nprinciple: P V = n R T",
    "approach: As a ratio of before and after.\napplication: T' = 2 T and V' = 8 V.\nsolution:\n1. P' / P = (T' / T) / (V' / V)\n2. P' / P = 2 / 8\nanswer: a quarter of what it was",
    "thought: 2 P V / 8 V = P / 4, as it should be.\nholds: yes",
];

#[tokio::test]
async fn principle_solution_and_check_are_three_calls() {
    let client = ScriptedClient::new(REPLIES);
    let solved = Solver::new(client.clone(), StrategyName::StepBack)
        .solve(PROBLEM)
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: An ideal gas is heated to twice its temperature and let grow to eight times its volume. What becomes of its pressure?
      2 abstraction: This is about gases. How do pressure, volume and temperature of a gas hang together?
      3 principle_identification: P V = n R T
      4 approach_selection: As a ratio of before and after.
      5 specific_application: T' = 2 T and V' = 8 V.
      6 step_by_step_solution: 1. P' / P = (T' / T) / (V' / V) 2. P' / P = 2 / 8
      7 solution_verification: 2 P V / 8 V = P / 4, as it should be.
      8 final_response: a quarter of what it was
    answer: a quarter of what it was
    end: answered
    spent: 3 calls, about 961 tokens
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @"
    [system] You solve a problem in small stages. Step back to the principle behind the problem, then come down to the case. Zheng et al. 2023.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    An ideal gas is heated to twice its temperature and let grow to eight times its volume. What becomes of its pressure?

    Ask the more general question of which this problem is a case. Name the principle that answers the general question.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    question: the more general question (a text)
    principle: the principle that answers it (a text)

    [assistant] thought: This is about gases.
    question: How do pressure, volume and temperature of a gas hang together?
    principle: P V = n R T

    [user] Choose how to use the principle here, and say why. Apply the principle to what is given in the problem. Solve the problem step by step, holding to the principle.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    approach: how you use the principle, and why (a text)
    application: the principle, applied to what is given (a text)
    solution: the solution, step by step (a text)
    answer: the answer to the problem, short and complete (a text)

    [assistant] approach: As a ratio of before and after.
    application: T' = 2 T and V' = 8 V.
    solution:
    1. P' / P = (T' / T) / (V' / V)
    2. P' / P = 2 / 8
    answer: a quarter of what it was

    [user] Check the solution against the problem and against the principle.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    holds: whether the solution holds (true or false)
    answer: the right answer, if it does not hold (a text, may be left out)
    ");
}

#[tokio::test]
async fn a_reply_without_the_principle_is_asked_for_again_and_then_an_error() {
    let client = ScriptedClient::new(["", "question: What is a gas?", "principle:"]);
    let error = Solver::new(client.clone(), StepBack::default())
        .solve(PROBLEM)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `abstraction`: no reply could be used: line 1: `question` is missing; expected a text; `principle` is missing; expected a text"
    );
}

#[tokio::test]
async fn a_budget_spent_in_the_middle_leaves_the_answer_unchecked() {
    let ended = |calls| async move {
        let solver = Solver::new(ScriptedClient::new(REPLIES), StepBack::default());
        let solved = solver
            .with_limits(Limits::default().with_calls(calls))
            .solve(PROBLEM)
            .await
            .unwrap();

        format!("{}: {}", solved.end(), solved.answer().unwrap_or("(none)"))
    };
    insta::assert_snapshot!([ended(1).await, ended(2).await, ended(3).await].join("\n"), @"
    the budget of 1 calls is spent: (none)
    the budget of 2 calls is spent: a quarter of what it was
    answered: a quarter of what it was
    ");
}
