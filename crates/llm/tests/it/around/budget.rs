use cogwork_llm::{
    Budget, ChatResponse, LlmClient, LlmErrorKind, Price, Prices, ScriptedClient, ScriptedReply,
    Usage,
};

use crate::around::{ask, fails, follow, hello, saying, seconds};

fn took(prompt: u64, completion: u64) -> ChatResponse {
    ChatResponse::new("Hi.")
        .with_usage(Usage::new(prompt, completion))
        .with_model("m-2025")
}

#[tokio::test]
async fn each_limit_ends_the_calls_and_says_what_was_spent() {
    let script = || ScriptedClient::new([took(10, 5), took(10, 5), took(10, 5)]);
    let prices = Prices::new().with_model("m", Price::per_million(1000.0, 2000.0));
    for (budget, said) in [
        (
            Budget::new(script()).with_calls(2),
            "budget: the limit on calls is 2 and has been reached (calls: 2, tokens: 30, money: 0)",
        ),
        (
            Budget::new(script()).with_tokens(30),
            "budget: the limit on tokens is 30 and has been reached (calls: 2, tokens: 30, money: 0)",
        ),
        (
            Budget::new(script()).with_calls(9).with_money(0.03, prices),
            "budget: the limit on money is 0.03 and has been reached (calls: 2, tokens: 30, money: 0.04)",
        ),
    ] {
        ask(&budget).await.unwrap();
        follow(&budget).await.unwrap();
        for error in [
            ask(&budget).await.unwrap_err(),
            follow(&budget).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), LlmErrorKind::Budget);
            assert!(!error.is_retryable());
            assert_eq!(error.to_string(), said);
        }
    }
}

#[tokio::test]
async fn a_limit_of_nothing_allows_nothing() {
    for budget in [
        Budget::new(ScriptedClient::new(["1"])).with_calls(0),
        Budget::new(ScriptedClient::new(["1"])).with_tokens(0),
        Budget::new(ScriptedClient::new(["1"])).with_money(0.0, Prices::new()),
        Budget::new(ScriptedClient::new(["1"])).with_money(f64::NAN, Prices::new()),
    ] {
        assert_eq!(ask(&budget).await.unwrap_err().kind(), LlmErrorKind::Budget);
    }
}

#[tokio::test]
async fn clones_share_one_budget() {
    let budget = Budget::new(ScriptedClient::new([took(1, 2), took(3, 4)])).with_calls(2);
    ask(&budget).await.unwrap();
    ask(&budget.clone()).await.unwrap();
    let spending = budget.spending();

    assert_eq!((spending.calls, spending.usage), (2, Usage::new(4, 6)));
    assert_eq!(ask(&budget).await.unwrap_err().kind(), LlmErrorKind::Budget);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_counts_is_guessed() {
    let broken =
        ScriptedReply::in_pieces(["abcdefgh"]).but_then(fails(LlmErrorKind::InterruptedStream));
    let slow = ScriptedReply::in_pieces(["abcdefgh", "more"]).every(seconds(5));
    let script = ScriptedClient::default()
        .then("abcd")
        .then(broken)
        .then(slow)
        .then(fails(LlmErrorKind::RateLimit));

    let budget = Budget::new(script);
    let request = saying(&"x".repeat(400));

    budget.complete(request.clone()).await.unwrap();
    assert_eq!(budget.spending().usage, Usage::new(100, 1));
    budget
        .stream(request.clone())
        .await
        .unwrap()
        .collect()
        .await
        .unwrap_err();

    assert_eq!(budget.spending().usage, Usage::new(200, 3));
    let mut dropped = budget.stream(request.clone()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);
    assert_eq!(budget.spending().usage, Usage::new(300, 5));

    // Turned away by the server, it took nothing; the call counts.
    budget.complete(request).await.unwrap_err();
    assert_eq!(
        (budget.spending().usage, budget.spending().calls),
        (Usage::new(300, 5), 4)
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_costs_its_conversation() {
    let budget = Budget::new(ScriptedClient::new([
        ScriptedReply::from("Late.").after(seconds(90))
    ]));
    let given_up =
        tokio::time::timeout(seconds(5), budget.complete(saying(&"x".repeat(400)))).await;
    assert!(given_up.is_err());
    assert_eq!(budget.spending().usage, Usage::new(100, 0));
}

#[tokio::test(start_paused = true)]
async fn many_calls_at_once_do_not_pass_a_limit_of_calls() {
    let late = || ScriptedReply::from(took(1, 1)).after(seconds(1));
    let budget = Budget::new(ScriptedClient::new((0..20).map(|_| late()))).with_calls(5);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let budget = budget.clone();
            tokio::spawn(async move { budget.complete(hello()).await.is_ok() })
        })
        .collect();

    let mut through = 0;
    for call in calls {
        through += usize::from(call.await.unwrap());
    }

    assert_eq!(through, 5);
}

#[test]
fn a_price_that_makes_no_sense_is_not_free() {
    for price in [-1.0, f64::NAN, f64::INFINITY] {
        let prices = Prices::new().with_model("m", Price::per_million(price, 0.0));
        assert_eq!(prices.cost(Some("m"), Usage::new(1, 0)), f64::INFINITY);
        assert_eq!(prices.cost(Some("m"), Usage::new(0, 1)), 0.0);
    }

    assert_eq!(Prices::new().cost(Some("m"), Usage::new(1, 1)), 0.0);
    let prices = Prices::new()
        .with_model("a", Price::per_million(1.0, 9.0))
        .with_model("b", Price::per_million(2.0, 3.0));
    assert_eq!(
        prices.cost(Some("c"), Usage::new(1_000_000, 1_000_000)),
        11.0
    );
    assert_eq!(
        prices.cost(
            Some("b"),
            Usage::new(1_000_000, 0).with_cached_tokens(u64::MAX)
        ),
        2.0
    );
}
