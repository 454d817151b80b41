/// Implements everything that is the same for all clients. Their constructors differ in documentation.
macro_rules! client {
    ($client:ident, $chat:ident, [$($capability:ident),*]) => {
        #[async_trait::async_trait]
        impl crate::LlmClient for $client {
            /// # Errors
            ///
            /// Returns the errors [listed for `OpenAiClient`](crate::OpenAiClient#errors).
            async fn complete(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ChatResponse, crate::LlmError> {
                self.0.complete(&$chat, request).await
            }

            /// # Errors
            ///
            /// Returns the errors [listed for `OpenAiClient`](crate::OpenAiClient#errors).
            async fn stream(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ReplyStream, crate::LlmError> {
                self.0.stream(&$chat, request).await
            }

            /// Returns the capabilities of the protocol. A server or a model that supports fewer refuses the
            /// request with an error of kind `InvalidRequest`.
            fn capabilities(&self) -> crate::Capabilities {
                crate::Capabilities::none()$(.with(crate::Capability::$capability))*
            }
        }

        impl std::fmt::Debug for $client {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use client;
