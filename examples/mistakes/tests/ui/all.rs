//! All mistakes as one program, so that they are compiled together.

#![allow(dead_code)]

mod another_state;
mod async_closure;
mod async_fn_as_closure;
mod branch_join_returns_action;
mod client_not_clone;
mod closure_as_node;
mod closure_not_send;
mod exec_captures_client;
mod exec_without_future;
mod exec_without_result;
mod fallback_input_not_clone;
mod fallback_with_another_outcome;
mod fallback_without_future;
mod from_node_with_another_state;
mod future_not_send;
mod join_returns_bool;
mod label_not_static;
mod missing_async_trait;
mod outcome_not_serialisable;
mod post_with_another_error;
mod split_collects;
mod split_fails_with_another_error;
mod split_of_other_items;
mod wrong_action;

fn main() {}
