//! Skills of a handler. The server itself has none.

use cogwork_mcp::Server;
use rmcp::model::{
    GetSkillRequestParams, GetSkillResult, ListResourcesResult, ListSkillsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    Resource, ServerCapabilities, ServerConfig, Skill, SkillFrontmatter, SkillResource,
    SkillResources,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};

use crate::support::connect;

const SKILL: &str = "skill://billing/SKILL.md";

struct Skills;

fn skill() -> Skill {
    let frontmatter = SkillFrontmatter::new("billing", "Issues invoices.");
    let file = SkillResource::from_bytes(SKILL, b"# Billing");
    Skill::new(SKILL, frontmatter, SkillResources::Files(vec![file]))
}

impl ServerHandler for Skills {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(ListSkillsResult::with_all_items(vec![skill()]))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        assert_eq!(request.uri, SKILL);
        Ok(GetSkillResult::new(skill()))
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let child = Resource::new(format!("{}/SKILL.md", request.uri), "SKILL.md");
        Ok(ListResourcesResult::with_all_items(vec![child]))
    }
}

#[tokio::test]
async fn requests_about_skills_reach_the_handler() {
    let client = connect(Server::builder().with_handler(Skills)).await;

    let list = client.list_skills(None).await.expect("a list");
    assert_eq!(list.skills, [skill()]);

    let request = GetSkillRequestParams::new(SKILL);
    let one = client.get_skill(request).await.expect("a skill");
    assert_eq!(one.skill, skill());

    let request = ReadResourceDirectoryRequestParams::new("skill://billing");
    let children = client.read_resource_directory(request).await;
    assert_eq!(children.expect("a list").resources[0].uri, SKILL);
}

#[tokio::test]
async fn without_such_a_handler_there_are_no_skills() {
    let client = connect(Server::builder()).await;
    let error = client.list_skills(None).await.expect_err("no skills");
    assert!(error.to_string().contains("-32601"), "{error}");
}
