//! The files of which a page consists.

pub(super) const PAGE: &str = include_str!("assets/page.html");

/// The parts of the style, in order.
const STYLES: [&str; 8] = [
    include_str!("assets/css/base.css"),
    include_str!("assets/css/bar.css"),
    include_str!("assets/css/graph.css"),
    include_str!("assets/css/timeline.css"),
    include_str!("assets/css/lists.css"),
    include_str!("assets/css/thoughts.css"),
    include_str!("assets/css/help.css"),
    include_str!("assets/css/media.css"),
];

/// The licence of dagre, which has to accompany its code.
const DAGRE_LICENCE: &str = include_str!("assets/vendor/dagre-LICENSE");
const DAGRE: &str = include_str!("assets/vendor/dagre-3.1.3.min.js");

/// The parts of the script, in order.
const SCRIPTS: [&str; 32] = [
    include_str!("assets/js/text.js"),
    include_str!("assets/js/icons.js"),
    include_str!("assets/js/values.js"),
    include_str!("assets/js/step_name.js"),
    include_str!("assets/js/model.js"),
    include_str!("assets/js/events.js"),
    include_str!("assets/js/thought_reports.js"),
    include_str!("assets/js/tool_reports.js"),
    include_str!("assets/js/chat_reports.js"),
    include_str!("assets/js/solving_reports.js"),
    include_str!("assets/js/reports.js"),
    include_str!("assets/js/list.js"),
    include_str!("assets/js/tabs.js"),
    include_str!("assets/js/graph_layout.js"),
    include_str!("assets/js/graph.js"),
    include_str!("assets/js/path.js"),
    include_str!("assets/js/player.js"),
    include_str!("assets/js/timeline.js"),
    include_str!("assets/js/costs.js"),
    include_str!("assets/js/figures.js"),
    include_str!("assets/js/plan.js"),
    include_str!("assets/js/reply.js"),
    include_str!("assets/js/calls.js"),
    include_str!("assets/js/detail_parts.js"),
    include_str!("assets/js/details.js"),
    include_str!("assets/js/lists.js"),
    include_str!("assets/js/contents.js"),
    include_str!("assets/js/search.js"),
    include_str!("assets/js/header.js"),
    include_str!("assets/js/help.js"),
    include_str!("assets/js/data.js"),
    include_str!("assets/js/app.js"),
];

/// The part that starts the page, after all others.
const START: &str = include_str!("assets/js/start.js");

/// Returns the style of a page.
pub(super) fn style() -> String {
    STYLES.join("\n")
}

/// Returns the script of a page. Its names are those of one function, so that none is global.
pub(super) fn script() -> String {
    let parts = parts();
    format!("'use strict';\n(() => {{\n{parts}\n{START}}})();\n")
}

/// Returns the script without the function around it, and without the part that starts a page.
pub(super) fn parts() -> String {
    let parts = SCRIPTS.join("\n");
    // A browser would look for a file that isn't there.
    let dagre = DAGRE.replace("//# sourceMappingURL=dagre.min.js.map", "");
    format!("/* dagre 3.1.3\n{DAGRE_LICENCE}*/\n{dagre}\n{parts}")
}
