//! Executes steps of a graph with sessions in PostgreSQL, for the bench `postgres`, which starts this
//! program with a connection string and a schema. For each line of standard input with the id of a session, a number of steps,
//! a length, and `last` or `all`, it prints how many nanoseconds the steps took.
//!
//! Each step adds a text of that length to the context, which is saved after every step. With `last`,
//! it replaces the one before; with `all`, the context keeps all of them, as a record does.

use std::error::Error;
use std::io::{BufRead, Write};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use graph_flow::{
    Context, FlowRunner, GraphBuilder, NextAction, PostgresSessionStorage, Session, SessionStorage,
    Task, TaskResult,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

struct Text {
    id: &'static str,
}

#[async_trait]
impl Task for Text {
    fn id(&self) -> &str {
        self.id
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        let bytes: usize = context.get("bytes").unwrap_or_default();
        let keeps_all: bool = context.get("keeps_all").unwrap_or_default();
        let number: u32 = context.get("number").unwrap_or_default();
        let name = if keeps_all {
            format!("text {number}")
        } else {
            "text".to_owned()
        };

        context.set(name, "thought ".repeat(bytes / 8))?;
        context.set("number", number + 1)?;
        Ok(TaskResult::new(None, NextAction::Continue))
    }
}

/// What one line asks for.
struct Asked {
    id: String,
    steps: u32,
    bytes: usize,
    keeps_all: bool,
}

impl FromStr for Asked {
    type Err = Box<dyn Error>;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut words = line.split_whitespace();
        let mut next = || {
            words
                .next()
                .ok_or("expected an id, steps, bytes, and `last` or `all`")
        };

        Ok(Self {
            id: next()?.to_owned(),
            steps: next()?.parse()?,
            bytes: next()?.parse()?,
            keeps_all: next()? == "all",
        })
    }
}

async fn execute(
    runner: &FlowRunner,
    storage: &dyn SessionStorage,
    asked: &Asked,
) -> Result<u128, Box<dyn Error>> {
    let session = Session::new_from_task(asked.id.clone(), "one");
    session.context.set("bytes", asked.bytes)?;
    session.context.set("keeps_all", asked.keeps_all)?;
    storage.save(session).await?;

    let started = Instant::now();
    for _ in 0..asked.steps {
        runner.run(&asked.id).await?;
    }
    Ok(started.elapsed().as_nanos())
}

async fn serve(url: &str, schema: &str) -> Result<(), Box<dyn Error>> {
    let options = PgConnectOptions::from_str(url)?.options([("search_path", schema)]);
    let pool = PgPoolOptions::new()
        .max_connections(5)
        .connect_with(options)
        .await?;
    let storage = Arc::new(PostgresSessionStorage::with_pool(pool).await?);

    let graph = GraphBuilder::new("texts")
        .add_task(Arc::new(Text { id: "one" }))
        .add_task(Arc::new(Text { id: "other" }))
        .add_edge("one", "other")
        .add_edge("other", "one")
        .set_start_task("one")
        .build()?;
    let runner = FlowRunner::new(
        Arc::new(graph),
        Arc::clone(&storage) as Arc<dyn SessionStorage>,
    );

    for line in std::io::stdin().lock().lines() {
        let asked: Asked = line?.parse()?;
        let took = execute(&runner, storage.as_ref(), &asked).await?;
        println!("{took}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(schema)) = (arguments.next(), arguments.next()) else {
        return Err("expected a connection string and a schema".into());
    };

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(&url, &schema))
}
