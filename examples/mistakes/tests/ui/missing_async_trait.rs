//! A backend without `#[async_trait]`, which rewrites the signature of `complete`. Write it above the `impl`:
//!
//! ```ignore
//! use cogwork_llm::async_trait;
//!
//! #[async_trait]
//! impl LlmClient for MyModel { … }
//! ```

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError};

struct MyModel;

impl LlmClient for MyModel {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        Ok(ChatResponse::new("four"))
    }
}

fn main() {}
