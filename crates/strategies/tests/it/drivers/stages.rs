//! A built-in driver handles exactly the stages of its table.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{
    Done, Driver, Next, SolveError, Solver, Solving, Stage, StageTurn, StageWork, Strategies,
    Strategy, StrategyName,
};

/// A built-in driver with a different table.
struct Misplaced {
    driver: Box<dyn Driver>,
    /// Whether `work` is called on the driver. Otherwise, only `take` is.
    works: bool,
}

impl Driver for Misplaced {
    fn strategy(&self) -> Strategy {
        let table = "
            elsewhere:
              description: A table of another strategy.
              stages:
                lost: {description: A stage., prompt: Think., final: true}
            ";
        Strategies::from_yaml(table)
            .unwrap()
            .get("elsewhere")
            .unwrap()
            .clone()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        if self.works {
            self.driver.work(turn)
        } else {
            Ok(StageWork::say("Here."))
        }
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        self.driver.take(solving, stage, done)
    }
}

async fn error_of(misplaced: Misplaced) -> String {
    let solver = Solver::new(ScriptedClient::default(), misplaced);
    solver
        .solve("What is 17 * 3?")
        .await
        .unwrap_err()
        .to_string()
}

/// Returns the stages that an error lists as expected.
fn expected(error: &str) -> Vec<&str> {
    let (_, expected) = error.split_once("expected ").unwrap();
    expected.split('`').skip(1).step_by(2).collect()
}

#[tokio::test]
async fn an_unknown_stage_is_an_error_that_names_the_stages_of_the_table() {
    for driver in StrategyName::ALL {
        let table = driver.strategy();
        let stages: Vec<&str> = table.stages().iter().map(Stage::name).collect();
        let opening = format!("stage `lost`: `lost` is not a stage of `{driver}`; expected ");

        for works in [true, false] {
            let misplaced = Misplaced {
                driver: driver.into(),
                works,
            };
            let error = error_of(misplaced).await;
            assert!(error.starts_with(&opening), "{error}");
            assert_eq!(expected(&error), stages, "{driver}");
        }
    }
}

#[test]
fn every_stage_of_the_table_is_known() {
    for driver in StrategyName::ALL {
        let solver = Solver::new(ScriptedClient::default(), driver);
        let by_name = Box::<dyn Driver>::from(driver);

        for stage in driver.strategy().stages() {
            let done = Done::Said {
                text: "Here.".to_owned(),
                parameters: Vec::new(),
            };
            let taken = by_name.take(&mut solver.begin("What is 17 * 3?"), stage, done);

            // The session may refuse a stage that can't be reached.
            let is_unknown =
                taken.is_err_and(|error| error.to_string().contains("is not a stage of"));
            assert!(!is_unknown, "{driver}: {}", stage.name());
        }
    }
}

#[tokio::test]
async fn the_error_of_an_unknown_stage_is_one_line() {
    let error = error_of(Misplaced {
        driver: StrategyName::Scratchpad.into(),
        works: true,
    })
    .await;
    insta::assert_snapshot!(error, @"stage `lost`: `lost` is not a stage of `scratchpad`; expected `problem_reception`, `scratchpad_initialization`, `iterative_calculation`, `state_tracking`, `continuation_decision`, `result_extraction` or `final_response`");
}
