//! The files of which a page consists.

pub(super) const PAGE: &str = include_str!("assets/page.html");
pub(super) const STYLE: &str = include_str!("assets/page.css");

/// The licence of dagre, which has to accompany its code.
const DAGRE_LICENCE: &str = include_str!("assets/vendor/dagre-LICENSE");
const DAGRE: &str = include_str!("assets/vendor/dagre-3.1.3.min.js");

/// The parts of the script, in order.
const SCRIPTS: [&str; 23] = [
    include_str!("assets/js/text.js"),
    include_str!("assets/js/icons.js"),
    include_str!("assets/js/step_name.js"),
    include_str!("assets/js/model.js"),
    include_str!("assets/js/events.js"),
    include_str!("assets/js/reports.js"),
    include_str!("assets/js/list.js"),
    include_str!("assets/js/tabs.js"),
    include_str!("assets/js/graph_layout.js"),
    include_str!("assets/js/graph.js"),
    include_str!("assets/js/path.js"),
    include_str!("assets/js/player.js"),
    include_str!("assets/js/timeline.js"),
    include_str!("assets/js/costs.js"),
    include_str!("assets/js/plan.js"),
    include_str!("assets/js/reply.js"),
    include_str!("assets/js/calls.js"),
    include_str!("assets/js/details.js"),
    include_str!("assets/js/lists.js"),
    include_str!("assets/js/search.js"),
    include_str!("assets/js/header.js"),
    include_str!("assets/js/help.js"),
    include_str!("assets/js/data.js"),
];

/// The part that starts the page, after all others.
const START: &str = include_str!("assets/js/app.js");

/// Where the part that starts a page begins.
const STARTS_AT: &str = "\nasync function start()";

/// Returns the script of a page. Its names are those of one function, so that none is global.
pub(super) fn script() -> String {
    let parts = parts();
    let start = START.find(STARTS_AT).and_then(|at| START.get(at..));
    let start = start.unwrap_or_default();
    format!("'use strict';\n(() => {{\n{parts}{start}}})();\n")
}

/// Returns the script without the function around it, and without what starts a page.
pub(super) fn parts() -> String {
    let parts = SCRIPTS.join("\n");
    let dagre = DAGRE.replace("//# sourceMappingURL=dagre.min.js.map", "");
    let app = START.split(STARTS_AT).next().unwrap_or_default();
    format!("/* dagre 3.1.3\n{DAGRE_LICENCE}*/\n{dagre}\n{parts}\n{app}")
}
