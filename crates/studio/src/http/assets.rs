//! The files of the pages.

use std::sync::LazyLock;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use cogwork_trace::PageParts;

const PAGE: &str = include_str!("../assets/index.html");
const STYLE: &str = include_str!("../assets/studio.css");

/// The parts of the script, after those of the page of a run.
const SCRIPTS: [&str; 10] = [
    include_str!("../assets/js/api.js"),
    include_str!("../assets/js/form.js"),
    include_str!("../assets/js/waits.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/differences.js"),
    include_str!("../assets/js/fork_dialog.js"),
    include_str!("../assets/js/run_page.js"),
    include_str!("../assets/js/list_page.js"),
    include_str!("../assets/js/compare_page.js"),
    include_str!("../assets/js/studio.js"),
];

/// The script. Its names are those of one function, so that none is global.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let of_a_run = PageParts::default().script;
    let parts = SCRIPTS.join("\n");
    // In a function, so that nothing is global.
    format!("'use strict';\n(() => {{\n{of_a_run}\n{parts}}})();\n")
});

static ALL_STYLES: LazyLock<String> =
    LazyLock::new(|| format!("{}\n{STYLE}", PageParts::default().style));

pub(super) fn routes() -> Router {
    Router::new()
        .route("/", get(async || file("text/html; charset=utf-8", PAGE)))
        .route(
            "/assets/studio.js",
            get(async || file("text/javascript; charset=utf-8", SCRIPT.as_str())),
        )
        .route(
            "/assets/studio.css",
            get(async || file("text/css; charset=utf-8", ALL_STYLES.as_str())),
        )
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, kind)], text)
}
