use super::assets;

/// The parts of a [`Page`](super::Page) without a record, for a server that shows a run while it is
/// recorded.
///
/// The script defines the class `App` and what it needs. `new App(element, header)` makes a page in
/// an element; `build()` draws it; `apply(event)` adds an event of the record, and `update()` shows
/// what was added. Its names are meant to be those of one function, around this script and that of
/// the server.
///
/// ```
/// use cogwork_trace::PageParts;
///
/// let parts = PageParts::default();
/// let script = format!("(() => {{ {} startServer(); }})();", parts.script);
/// assert!(script.contains("class App"));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageParts {
    /// The style.
    pub style: String,
    /// The script, which starts nothing.
    pub script: String,
}

impl Default for PageParts {
    fn default() -> Self {
        Self {
            style: assets::style(),
            script: assets::parts(),
        }
    }
}
