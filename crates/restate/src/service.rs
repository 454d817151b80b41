//! The service that an endpoint serves.
//!
//! The macros of the SDK need the name of a service at compile time, so this implements what the
//! macros expand to.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use restate_sdk::endpoint::{ContextInternal, Error};
use restate_sdk::errors::HandlerError;
use restate_sdk::service::{Service, ServiceDefinition, macro_support};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::discovery;
use crate::handlers::{cancel, deliver, progress, run};
use crate::settings::Inner;

pub(crate) fn workflow<S>(inner: Arc<Inner<S>>) -> ServiceDefinition
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let discovered = discovery::workflow(inner.name.clone(), inner.settings.longest_call);
    macro_support::service_definition(Handlers(inner), discovered)
}

struct Handlers<S>(Arc<Inner<S>>);

impl<S: Serialize + DeserializeOwned + Send + 'static> Service for Handlers<S> {
    type Future = BoxFuture<'static, Result<(), Error>>;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let inner = Arc::clone(&self.0);

        Box::pin(async move {
            let name = context.handler_name();
            match name {
                discovery::RUN => end(&context, run::run(&inner, &context)).await,
                discovery::DELIVER => end(&context, deliver::deliver(&inner, &context)).await,
                discovery::PROGRESS => end(&context, progress::progress(&context)).await,
                discovery::CANCEL => end(&context, cancel::cancel(&context)).await,
                _ => return Err(Error::unknown_handler(context.service_name(), name)),
            }

            Ok(())
        })
    }
}

/// Runs a handler and sends its result.
async fn end<T: restate_sdk::serde::Serialize>(
    context: &ContextInternal,
    handler: impl Future<Output = Result<T, HandlerError>>,
) {
    let result = handler.await;
    // An error is recorded as well, so that Restate knows whether to retry.
    context.handle_handler_result(result);
    context.end();
}
