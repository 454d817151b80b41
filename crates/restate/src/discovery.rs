//! What an endpoint answers when Restate asks for its services.

use std::time::Duration;

use restate_sdk::discovery::{
    Handler, HandlerName, HandlerType, InputPayload, OutputPayload, Service, ServiceName,
    ServiceType,
};
use restate_sdk::serde::Json;

pub(crate) const RUN: &str = "run";
pub(crate) const DELIVER: &str = "deliver";
pub(crate) const PROGRESS: &str = "progress";
pub(crate) const CANCEL: &str = "cancel";

pub(crate) fn workflow(name: ServiceName, longest_call: Duration) -> Service {
    let handlers = [
        handler(RUN, Some(HandlerType::Workflow), true),
        handler(DELIVER, Some(HandlerType::Shared), true),
        handler(PROGRESS, Some(HandlerType::Shared), false),
        handler(CANCEL, Some(HandlerType::Shared), false),
    ];

    service(name, ServiceType::Workflow, handlers.into(), longest_call)
}

fn service(
    name: ServiceName,
    ty: ServiceType,
    handlers: Vec<Option<Handler>>,
    longest_call: Duration,
) -> Service {
    Service {
        ty,
        name,
        handlers: handlers.into_iter().flatten().collect(),
        documentation: None,
        metadata: Default::default(),
        abort_timeout: u64::try_from(longest_call.as_millis()).ok(),
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    }
}

fn handler(name: &str, ty: Option<HandlerType>, has_input: bool) -> Option<Handler> {
    let input = if has_input {
        InputPayload::from_metadata::<Json<()>>()
    } else {
        InputPayload::empty()
    };

    Some(Handler {
        name: HandlerName::try_from(name).ok()?,
        input: Some(input),
        output: Some(OutputPayload::from_metadata::<Json<()>>()),
        ty,
        documentation: None,
        metadata: Default::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}
