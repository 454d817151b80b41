use cogwork_llm::layers::{Budget, Price, Prices};
use cogwork_llm::{ChatResponse, LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply, Usage};

use crate::around::{ask, both, fails, follow, hello, saying, seconds};

fn took(prompt: u64, completion: u64) -> ChatResponse {
    let response = ChatResponse::new("Hi.").with_model("m-2025");
    response.with_usage(Usage::new(prompt, completion))
}

#[tokio::test]
async fn each_limit_ends_the_calls_and_says_what_was_spent() {
    let budget = || Budget::new(ScriptedClient::new([took(10, 5), took(10, 5), took(10, 5)]));
    let prices = Prices::new().with_model("m", Price::per_million(1000.0, 2000.0));
    let mut told = Vec::new();
    for budget in [
        budget().with_calls(2),
        budget().with_tokens(30),
        budget().with_calls(9).with_money(0.03, prices),
    ] {
        ask(&budget).await.unwrap();
        follow(&budget).await.unwrap();
        let error = both(&budget).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Budget);
        assert!(!error.is_retryable());
        told.push(error.to_string());
    }

    insta::assert_snapshot!(told.join("\n"), @"
    budget: the limit on calls is 2 and has been reached (calls: 2, tokens: 30, money: 0)
    budget: the limit on tokens is 30 and has been reached (calls: 2, tokens: 30, money: 0)
    budget: the limit on money is 0.03 and has been reached (calls: 2, tokens: 30, money: 0.04)
    ");
}

#[tokio::test]
async fn a_limit_of_nothing_allows_nothing() {
    let budget = || Budget::new(ScriptedClient::new(["1"]));
    for budget in [
        budget().with_calls(0),
        budget().with_tokens(0),
        budget().with_money(0.0, Prices::new()),
        budget().with_money(f64::NAN, Prices::new()),
    ] {
        assert_eq!(ask(&budget).await.unwrap_err().kind(), LlmErrorKind::Budget);
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_counts_is_guessed() {
    let broken =
        ScriptedReply::in_pieces(["abcdefgh"]).but_then(fails(LlmErrorKind::InterruptedStream));
    let script = ScriptedClient::default()
        .then("abcd")
        .then(broken)
        .then(ScriptedReply::in_pieces(["abcdefgh", "more"]).every(seconds(5)))
        .then(ScriptedReply::from("Late.").after(seconds(90)))
        .then(fails(LlmErrorKind::RateLimit));
    let budget = Budget::new(script);
    let request = saying(&"x".repeat(400));
    let spent = || budget.spending().usage;

    budget.complete(request.clone()).await.unwrap();
    assert_eq!(spent(), Usage::new(100, 1));

    let reply = budget.stream(request.clone()).await.unwrap();
    reply.collect().await.unwrap_err();
    assert_eq!(spent(), Usage::new(200, 3));

    let mut dropped = budget.stream(request.clone()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);
    assert_eq!(spent(), Usage::new(300, 5));

    // Given up before it says anything, a call costs its conversation.
    let given_up = tokio::time::timeout(seconds(5), budget.complete(request.clone()));
    assert!(given_up.await.is_err());
    assert_eq!(spent(), Usage::new(400, 5));

    // Turned away by the server, it took nothing; the call counts.
    budget.complete(request).await.unwrap_err();
    assert_eq!((spent(), budget.spending().calls), (Usage::new(400, 5), 5));
}

#[tokio::test(start_paused = true)]
async fn clones_share_a_limit_that_many_calls_at_once_do_not_pass() {
    let late = || ScriptedReply::from(took(1, 1)).after(seconds(1));
    let budget = Budget::new(ScriptedClient::new((0..20).map(|_| late()))).with_calls(5);
    let call = |budget: Budget<_>| async move { budget.complete(hello()).await.is_ok() };
    let calls = (0..20).map(|_| tokio::spawn(call(budget.clone())));

    let outcomes = futures_util::future::join_all(calls).await;
    let through = outcomes
        .into_iter()
        .map(Result::unwrap)
        .filter(|is_ok| *is_ok);
    assert_eq!(through.count(), 5);
    assert_eq!(budget.spending().usage, Usage::new(5, 5));
}

#[test]
fn a_price_that_makes_no_sense_is_not_free() {
    for price in [-1.0, f64::NAN, f64::INFINITY] {
        let prices = Prices::new().with_model("m", Price::per_million(price, 0.0));
        assert_eq!(prices.cost(Some("m"), Usage::new(1, 0)), f64::INFINITY);
        assert_eq!(prices.cost(Some("m"), Usage::new(0, 1)), 0.0);
    }
    assert_eq!(Prices::new().cost(Some("m"), Usage::new(1, 1)), 0.0);
}

#[test]
fn reads_and_writes_of_the_cache_have_prices_of_their_own() {
    let million = Usage::new(1_000_000, 0);
    let prices = Prices::common()
        .with_model("a", Price::per_million(1.0, 90.0))
        .with_model("b", Price::per_million(20.0, 3.0).with_written(30.0));
    for (model, usage, cost) in [
        ("claude-opus-5-5-20260922", million, 4.0),
        (
            "claude-opus-5-5",
            Usage {
                cached_tokens: 1_000_000,
                ..million
            },
            0.2,
        ),
        (
            "claude-opus-5-5",
            Usage {
                cache_written_tokens: 500_000,
                ..million
            },
            4.5,
        ),
        (
            "b",
            Usage {
                cached_tokens: u64::MAX,
                ..million
            },
            20.0,
        ),
        // That of the dearest model, for want of a better one.
        ("c", Usage::new(1_000_000, 1_000_000), 91.0),
    ] {
        assert_eq!(prices.cost(Some(model), usage), cost, "{model}");
    }
}
