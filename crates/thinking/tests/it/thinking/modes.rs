use crate::thinking::{ask, failures, generated, shown};
use cogwork_llm::{
    Block, ChatRequest, LlmError, LlmErrorKind, Message, ReplyFormat, ScriptedClient,
};
use cogwork_thinking::{BestOf, Critique, Generation, PlanFirst, ThinkingMode, Verification};

async fn thought(mode: impl ThinkingMode + 'static, script: &ScriptedClient) -> Generation {
    generated(script, mode, ask("Who was born in Bergen?")).await
}

fn all(script: &ScriptedClient) -> String {
    let requests: Vec<_> = script.requests().iter().map(shown).collect();
    requests.join("\n--- next call\n")
}

#[tokio::test]
async fn a_plan_is_made_first_and_given_to_the_model() {
    let script = ScriptedClient::new(["1. Think of people.\n2. Check where.\n", "Grieg."]);
    let generation = thought(PlanFirst::default(), &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    insta::assert_snapshot!(all(&script));
}

#[tokio::test]
async fn a_critique_revises_by_what_it_found_until_all_is_met() {
    let critique = "2: \"I think\" is no answer.";
    let script = ScriptedClient::new(["Grieg, I think.", critique, "Grieg.", "All met."]);
    let mode = Critique {
        rounds: 3,
        ..Critique::new(["It names a person.", "It is sure."])
    };
    let generation = thought(mode, &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    insta::assert_snapshot!(all(&script));
}

#[tokio::test]
async fn a_judgement_is_free_text_even_where_the_answer_is_not() {
    let request = ask("?")
        .with_format(ReplyFormat::Json)
        .with_stop(["}"])
        .with_max_tokens(9);
    let script = ScriptedClient::new(["{}", "ALL MET"]);
    generated(&script, Critique::new(["It is JSON."]), request).await;

    let judged = &script.requests()[1];
    assert_eq!((judged.format(), judged.stop().len()), (None, 0));
    assert_eq!(judged.max_tokens(), Some(9));
}

#[tokio::test]
async fn questions_are_answered_without_sight_of_the_draft() {
    let questions = "Here are questions:\n1. Where was Grieg born?\n- **Where was Ibsen born?**\n3. Where was Ole Bull born?";
    let draft = "Grieg and Ibsen.";
    let script = ScriptedClient::new([draft, questions, "In Bergen.", "In Skien.", "Grieg."]);
    let generation = thought(Verification { questions: 2 }, &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    insta::assert_snapshot!(all(&script));
}

#[tokio::test]
async fn a_verified_draft_stands_and_an_unanswered_question_is_left_out() {
    let script = ScriptedClient::new(["Grieg.", "Where was Grieg born?\nWhere was Bull born?"])
        .then(LlmError::new(LlmErrorKind::Server, "on fire"))
        .then("In Bergen.")
        .then("NO CHANGE");
    let generation = thought(Verification::default(), &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    assert_eq!(failures(&generation), [("verification", "server: on fire")]);
    assert!(!all(&script).contains("Question: Where was Grieg born?"));
}

#[tokio::test]
async fn a_verification_without_questions_or_answers_keeps_the_draft() {
    let script = ScriptedClient::new(["Grieg.", "I am sure of it."]);
    let generation = thought(Verification::default(), &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    let told = "the model replied `I am sure of it.`; expected questions, one per line";
    assert_eq!(failures(&generation), [("verification", told)]);

    let script = ScriptedClient::new(["Grieg.", "Where was Grieg born?", ""]);
    let generation = thought(Verification::default(), &script).await;
    assert_eq!(generation.response.text(), "Grieg.");
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_question_about_a_picture_is_asked_with_the_picture() {
    let picture = Block::image("image/png", "iVBORw0KGgo=");
    let script = ScriptedClient::new(["A cat.", "What animal is it?", "A dog.", "A dog."]);
    let request = ChatRequest::new([Message::user("What is it?").with_blocks([picture.clone()])]);
    generated(&script, Verification::default(), request).await;

    let question = script.requests()[2].messages().last().unwrap().clone();
    assert_eq!(question.blocks(), [picture]);
}

#[tokio::test]
async fn a_judge_picks_among_the_candidates() {
    let script = ScriptedClient::new(["Grieg?", "Grieg.", " Grieg?\n", "Ole Bull.", "**2**"]);
    let mode = BestOf {
        temperature: Some(0.9),
        ..BestOf::new(4)
    };
    let generation = thought(mode, &script).await;

    assert_eq!(generation.response.text(), "Grieg.");
    assert_eq!(script.requests()[1].temperature(), Some(0.9));
    assert_eq!(generation.report.drafts.len(), 4);
    insta::assert_snapshot!(shown(&script.requests()[4]));
}

#[tokio::test]
async fn equal_candidates_need_no_judge_and_seeds_differ() {
    let script = ScriptedClient::new(["Grieg.", "Grieg.", "Grieg."]);
    let request = ask("?").with_seed(7);
    let generation = generated(&script, BestOf::new(3), request).await;
    assert_eq!(generation.response.text(), "Grieg.");

    let requests = script.requests();
    let seeds: Vec<_> = requests.iter().map(ChatRequest::seed).collect();
    assert_eq!(seeds, [Some(7), Some(8), Some(9)]);
}

#[tokio::test]
async fn a_judge_who_names_no_candidate_leaves_the_first() {
    for verdict in ["The second.", "0", "4", "1 or 2", "99999999999999999999999"] {
        let script = ScriptedClient::new(["a", "b", "c", verdict]);
        let generation = thought(BestOf::new(3), &script).await;
        assert_eq!(generation.response.text(), "a");
        let expected = format!("the model replied `{verdict}`; expected one number from 1 to 3");

        assert_eq!(failures(&generation), [("best_of", expected.as_str())]);
    }
}
