//! The macros make a test of each case.

use cogwork_conformance::{ConformanceCase, engine_cases, store_cases};

mod memory {
    cogwork_conformance::engine_tests!(Some(cogwork_conformance::MemoryEngine::new()));
}

mod own_store {
    cogwork_conformance::store_tests!(Some(crate::own_store::OwnStore::default()));
}

/// The names that a macro passes on.
fn names(name: &str) -> Vec<&'static str> {
    let source = include_str!("../../src/macros.rs");
    let begin = format!("$crate::{name}, $make,");
    let (_, rest) = source.split_once(&begin).unwrap();
    let (names, _) = rest.split_once('}').unwrap();
    names.split_whitespace().collect()
}

fn names_of(cases: Vec<ConformanceCase>) -> Vec<&'static str> {
    cases.into_iter().map(|case| case.name).collect()
}

#[test]
fn macros_have_all_cases() {
    assert_eq!(names("run_engine_test"), names_of(engine_cases()));
    assert_eq!(names("run_store_test"), names_of(store_cases()));
}

#[test]
fn each_case_has_a_promise() {
    for case in engine_cases().iter().chain(&store_cases()) {
        assert!(case.promise.ends_with('.'), "{case:?}");
    }
}
