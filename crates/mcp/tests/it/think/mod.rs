//! The tools `think` and `think_session`.

mod walk;
