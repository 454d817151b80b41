//! The methods of the protocol.

#![allow(
    deprecated,
    reason = "hosts with a handshake subscribe and log in this way"
)]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelTaskRequest,
    CancelledNotification, CancelledNotificationParam, CompleteRequest, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, Extensions,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequest, GetSkillRequestMethod,
    GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskRequest, GetTaskResult,
    InitializedNotification, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsRequest, ListSkillsRequestMethod, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotification, ProgressNotificationParam,
    ReadResourceDirectoryRequest, ReadResourceDirectoryRequestMethod,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, RootsListChangedNotification, ServerCapabilities, ServerConfig,
    ServerResult, SetLevelRequest, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequest,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequest, UnsubscribeRequestParams,
    UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};

use super::{Handler, is_of_newer_generation};
use crate::added;
use crate::resources;
use crate::shared::Shared;
use crate::{prompts, unknown_request};

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let definitions = self.shared.tools.listed().cloned();
        let own = ListToolsResult::with_all_items(definitions.collect());
        match &self.shared.added {
            Some(added) => added.list_tools(own, request, context).await,
            None => Ok(own),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let own = self.shared.tools.find(name);
        let added = self.shared.added.as_ref();
        own.map(|tool| tool.definition.clone())
            .or_else(|| added.and_then(|added| added.tool(name)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _permit = self.permit().await?;

        if let Some(tool) = self.shared.tools.find(&request.name) {
            return self.call_own(tool, request, &context).await;
        }
        if let Some(added) = self.with(|added| added.tools.is_some()) {
            return added.call_tool(request, context).await;
        }
        tracing::debug!("an unknown tool was called");
        Ok(self.unknown_tool(&request.name).into_response())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let _permit = self.permit().await?;

        let own = match added::is_added_page(request.as_ref()) {
            false => self.own_resources(request.clone()).await?,
            true => ListResourcesResult::default(),
        };
        match &self.shared.added {
            Some(added) => added.list_resources(own, request, context).await,
            None => Ok(own),
        }
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let own = match self.has_sessions() {
            true => resources::templates(),
            false => ListResourceTemplatesResult::default(),
        };
        match &self.shared.added {
            Some(added) => added.list_resource_templates(own, request, context).await,
            None => Ok(own),
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let _permit = self.permit().await?;
        if let Some(added) = self.for_resource(&request.uri) {
            return added.read_resource(request, context).await;
        }

        let owner = self.connection.owner();
        let Shared { store, views, .. } = &*self.shared;
        let result = resources::read(store, views, owner, request.uri).await?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let strategies = self.shared.store.strategies();
        let own = prompts::list(strategies, self.shared.tools.ways());
        match &self.shared.added {
            Some(added) => added.list_prompts(own, request, context).await,
            None => Ok(own),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let _permit = self.permit().await?;
        let Shared { store, tools, .. } = &*self.shared;

        let is_own = prompts::exists(&request.name, store.strategies(), tools.ways());
        if let Some(added) = self.with(|added| added.prompts.is_some() && !is_own) {
            return added.get_prompt(request, context).await;
        }
        let prompt = prompts::get(store, tools.ways(), request)?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let _permit = self.permit().await?;
        let Shared { store, tools, .. } = &*self.shared;

        let is_own = prompts::completes(&request.r#ref, store.strategies(), tools.ways());
        if let Some(added) = self.with(|added| added.completions.is_some() && !is_own) {
            let result = added.ask(CompleteRequest::new(request), context).await?;
            return added::of_kind!(result, ServerResult::CompleteResult);
        }
        let owner = self.connection.owner();
        prompts::complete(store, owner, tools.ways(), request).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(added) = self.with(|added| added.logging.is_some()) else {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        };
        let result = added.ask(SetLevelRequest::new(request), context).await;
        result.map(|_| ())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        let own = tasks.get_task(&request.task_id).map(GetTaskResult::new);
        let Some(added) = self.for_task(&own) else {
            return own;
        };
        let result = added.ask(GetTaskRequest::new(request), context).await?;
        added::of_kind!(result, ServerResult::GetTaskResult)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        let own = tasks.update_task(&request.task_id, request.input_responses.clone());
        let Some(added) = self.for_task(&own) else {
            return own;
        };
        let result = added.ask(UpdateTaskRequest::new(request), context).await;
        result.map(|_| ())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        let own = tasks.cancel_task(&request.task_id);
        let Some(added) = self.for_task(&own) else {
            return own;
        };
        let result = added.ask(CancelTaskRequest::new(request), context).await;
        result.map(|_| ())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let Some(added) = self.with(ServerCapabilities::supports_skills) else {
            return Err(ErrorData::method_not_found::<ListSkillsRequestMethod>());
        };
        let request = ListSkillsRequest {
            method: Default::default(),
            params: request,
            extensions: Extensions::default(),
        };
        let result = added.ask(request, context).await?;
        added::of_kind!(result, ServerResult::ListSkillsResult)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let Some(added) = self.with(ServerCapabilities::supports_skills) else {
            return Err(ErrorData::method_not_found::<GetSkillRequestMethod>());
        };
        let result = added.ask(GetSkillRequest::new(request), context).await?;
        added::of_kind!(result, ServerResult::GetSkillResult)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let Some(added) = self.with(ServerCapabilities::supports_directory_read) else {
            return Err(ErrorData::method_not_found::<
                ReadResourceDirectoryRequestMethod,
            >());
        };
        let request = ReadResourceDirectoryRequest::new(request);
        let result = added.ask(request, context).await?;
        added::of_kind!(result, ServerResult::ListResourcesResult)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "initialize" && is_of_newer_generation(&context) {
            return Err(unknown_request::unknown_method(&request.method));
        }
        if let Some(added) = &self.shared.added
            && unknown_request::is_unknown(&request)
        {
            let result = added.ask(request, context).await?;
            return added::of_kind!(result, ServerResult::CustomResult);
        }
        Err(unknown_request::error(&request))
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        if let Some(added) = &self.shared.added {
            let notification = CancelledNotification::new(notification);
            added.notify(notification, context).await;
        }
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        if let Some(added) = &self.shared.added {
            let notification = ProgressNotification::new(notification);
            added.notify(notification, context).await;
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(added) = &self.shared.added {
            let notification = InitializedNotification::default();
            added.notify(notification, context).await;
        }
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        if let Some(added) = &self.shared.added {
            let notification = RootsListChangedNotification::default();
            added.notify(notification, context).await;
        }
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        if let Some(added) = &self.shared.added {
            added.notify(notification, context).await;
        }
    }
}
