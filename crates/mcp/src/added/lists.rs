//! Lists of the server that are followed by those of a handler.

use rmcp::ErrorData;
use rmcp::model::{
    Extensions, ListPromptsRequest, ListPromptsResult, ListResourceTemplatesRequest,
    ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult, ListToolsRequest,
    ListToolsResult, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{RequestContext, RoleServer};

use super::handler::{AddedHandler, unexpected};

/// Begins the cursors of the handler, to tell them from those of the server.
const MARK: &str = "added:";

/// Returns whether a request is for a page that only the handler has.
pub(crate) fn is_added_page(request: Option<&PaginatedRequestParams>) -> bool {
    let cursor = request.and_then(|request| request.cursor.as_ref());
    cursor.is_some_and(|cursor| cursor.starts_with(MARK))
}

/// Returns the request for the handler: the cursors of the server mean its first page.
fn request_for_added(request: Option<PaginatedRequestParams>) -> Option<PaginatedRequestParams> {
    let mut request = request?;
    let cursor = request.cursor.as_ref();
    request.cursor = cursor.and_then(|cursor| cursor.strip_prefix(MARK).map(str::to_owned));
    Some(request)
}

/// Writes a method for a list.
macro_rules! list {
    ($method:ident, $items:ident by $key:ident, $capability:ident, $request:ident, $result:ident) => {
        /// Returns the page of the server. If it is the last one, the first page of the handler is
        /// added to it. If a page of the handler is requested, returns that one.
        ///
        /// What both have is that of the server.
        pub(crate) async fn $method(
            &self,
            own: $result,
            request: Option<PaginatedRequestParams>,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let is_added = is_added_page(request.as_ref());
            let has_more = !is_added && own.next_cursor.is_some();
            if has_more || self.info().capabilities.$capability.is_none() {
                return Ok(own);
            }

            let request = $request {
                method: Default::default(),
                params: request_for_added(request),
                extensions: Extensions::default(),
            };
            let ServerResult::$result(mut page) = self.ask(request, context).await? else {
                return Err(unexpected());
            };

            let is_new = |key: &_| own.$items.iter().all(|item| item.$key != *key);
            page.$items.retain(|item| is_new(&item.$key));
            page.next_cursor = page.next_cursor.map(|cursor| format!("{MARK}{cursor}"));
            if is_added {
                return Ok(page);
            }

            let mut joined = own;
            joined.$items.extend(page.$items);
            joined.next_cursor = page.next_cursor;
            Ok(joined)
        }
    };
}

impl AddedHandler {
    list!(list_tools, tools by name, tools, ListToolsRequest, ListToolsResult);
    list!(list_prompts, prompts by name, prompts, ListPromptsRequest, ListPromptsResult);
    list!(list_resources, resources by uri, resources, ListResourcesRequest, ListResourcesResult);
    list!(
        list_resource_templates,
        resource_templates by uri_template,
        resources,
        ListResourceTemplatesRequest,
        ListResourceTemplatesResult
    );
}
