//! The main job: a problem is planned and solved step by step, and every thought is shown.
//!
//! `cargo run --example quickstart` solves a default problem, `cargo run --example quickstart --
//! "PROBLEM"` solves yours, and `-- --help` lists the settings. If `OPENAI_BASE_URL`, `OPENAI_MODEL`
//! and, where needed, `OPENAI_API_KEY` are set, it asks that server, and otherwise a rule-based
//! backend that can do arithmetic and a few word problems.
//!
//! ```text
//! Problem
//! A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?
//!
//! Thought 1
//! The problem asks for distance = speed * time, here 60 * 2.5 + 90 * (40 / 60). My plan: work it out step by step, check the result, conclude.
//! I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.
//! To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).
//!
//! Plan  ━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄  1 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ · Multiply 60 by 2.5
//! │  ├─ · Divide 40 by 60
//! │  ├─ · Multiply 90 by (40 / 60)
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! 0.0 s
//!
//! Thought 2
//! Evaluation of thought 1: the problem is understood.
//! Step 2.1: Multiply 60 by 2.5. 60 * 2.5 = 150.
//!
//! Plan  ━━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄  2 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ · Divide 40 by 60
//! │  ├─ · Multiply 90 by (40 / 60)
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2.1 Pending → Done: Multiply 60 by 2.5
//! 0.0 s
//!
//! Thought 3
//! Evaluation of thought 2: 60 * 2.5 = 150 is correct.
//! Step 2.2: Divide 40 by 60. 40 / 60 = 2/3 ≈ 0.666667.
//!
//! Plan  ━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄┄  3 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ · Multiply 90 by (40 / 60)
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2.2 Pending → Done: Divide 40 by 60
//! 0.0 s
//!
//! Thought 4
//! Evaluation of thought 3: 40 / 60 = 2/3 ≈ 0.666667 is correct.
//! Step 2.3: Multiply 90 by (40 / 60). 90 * (2 / 3) = 50.
//!
//! Plan  ━━━━━━━━━━━┄┄┄┄┄┄┄┄┄  4 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ✓ Multiply 90 by (40 / 60): 90 * (2 / 3) = 50
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2.3 Pending → Done: Multiply 90 by (40 / 60)
//! 0.0 s
//!
//! Thought 5
//! Evaluation of thought 4: there is a mistake. Step 2.3: 90 * (2 / 3) is 60, not 50, a carry was dropped.
//! I mark it and do it again in the next thought.
//!
//! Plan  ━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄┄  3 of 7 steps done, 1 to verify
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ? Multiply 90 by (40 / 60): 90 * (2 / 3) = 50 (90 * (2 / 3) is 60, not 50, a carry was dropped)
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2.3 Done → Verification Needed: Multiply 90 by (40 / 60)
//! 0.0 s
//!
//! Thought 6
//! Evaluation of thought 5: it was right to mark the mistake.
//! Step 2.3, once more: Multiply 90 by (40 / 60). 90 * (2 / 3) = 60.
//!
//! Plan  ━━━━━━━━━━━┄┄┄┄┄┄┄┄┄  4 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ · Work out 60 * 2.5 + 90 * (40 / 60)
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ✓ Multiply 90 by (40 / 60): 90 * (2 / 3) = 60
//! │  └─ · Add (60 * 2.5) and (90 * (40 / 60))
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2.3 Verification Needed → Done: Multiply 90 by (40 / 60)
//!   2.3 result 90 * (2 / 3) = 50 → 90 * (2 / 3) = 60: Multiply 90 by (40 / 60)
//!   2.3 mark dropped: Multiply 90 by (40 / 60)
//! 0.0 s
//!
//! Thought 7
//! Evaluation of thought 6: 90 * (2 / 3) = 60 is correct.
//! Step 2.4: Add (60 * 2.5) and (90 * (40 / 60)). 150 + 60 = 210.
//!
//! Plan  ━━━━━━━━━━━━━━┄┄┄┄┄┄  5 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ ✓ Work out 60 * 2.5 + 90 * (40 / 60): 210
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ✓ Multiply 90 by (40 / 60): 90 * (2 / 3) = 60
//! │  └─ ✓ Add (60 * 2.5) and (90 * (40 / 60)): 150 + 60 = 210
//! ├─ · Check the result
//! └─ · Conclusion
//! Changed
//!   2 Pending → Done: Work out 60 * 2.5 + 90 * (40 / 60)
//!   2.4 Pending → Done: Add (60 * 2.5) and (90 * (40 / 60))
//! 0.0 s
//!
//! Thought 8
//! Evaluation of thought 7: 150 + 60 = 210 is correct.
//! Step 3: Check the result. Worked out again in one go, with rounded decimals, it comes to 210 as well.
//!
//! Plan  ━━━━━━━━━━━━━━━━━┄┄┄  6 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ ✓ Work out 60 * 2.5 + 90 * (40 / 60): 210
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ✓ Multiply 90 by (40 / 60): 90 * (2 / 3) = 60
//! │  └─ ✓ Add (60 * 2.5) and (90 * (40 / 60)): 150 + 60 = 210
//! ├─ ✓ Check the result: Worked out again in one go, with rounded decimals, it comes to 210 as well
//! └─ · Conclusion
//! Changed
//!   3 Pending → Done: Check the result
//! 0.0 s
//!
//! Thought 9
//! The distance is 210 km: 60 * 2.5 + 90 * (40 / 60) = 210.
//!
//! Plan  ━━━━━━━━━━━━━━━━━━━━  7 of 7 steps done
//! ├─ ✓ Understand the problem: distance = speed * time, here 60 * 2.5 + 90 * (40 / 60)
//! ├─ ✓ Work out 60 * 2.5 + 90 * (40 / 60): 210
//! │  ├─ ✓ Multiply 60 by 2.5: 60 * 2.5 = 150
//! │  ├─ ✓ Divide 40 by 60: 40 / 60 = 2/3 ≈ 0.666667
//! │  ├─ ✓ Multiply 90 by (40 / 60): 90 * (2 / 3) = 60
//! │  └─ ✓ Add (60 * 2.5) and (90 * (40 / 60)): 150 + 60 = 210
//! ├─ ✓ Check the result: Worked out again in one go, with rounded decimals, it comes to 210 as well
//! └─ ✓ Conclusion: 210 km
//! Changed
//!   4 Pending → Done: Conclusion
//! 0.0 s
//!
//! Answer
//! The distance is 210 km: 60 * 2.5 + 90 * (40 / 60) = 210.
//!
//! 9 thoughts, 0.0 s
//! ```

use std::env;
use std::error::Error;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning};
use cogwork_flow::CancellationToken;
use cogwork_quickstart::{RuleBasedClient, model};

const PROBLEM: &str =
    "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";

const HELP: &str = "\
Plans and solves a problem step by step, and shows every thought.

  cargo run --example quickstart                 solve a problem about a train
  cargo run --example quickstart -- \"PROBLEM\"    solve PROBLEM
  cargo run --example quickstart -- --help       show this text

Environment variables:
  OPENAI_BASE_URL   the address of an OpenAI-compatible server, such as http://localhost:8080/v1
  OPENAI_MODEL      the name of the model
  OPENAI_API_KEY    the API key, if the server needs one

Without a server, a rule-based backend does arithmetic and a few word problems.";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let [word] = words.as_slice()
        && matches!(word.as_str(), "--help" | "-h")
    {
        // A reader may close the pipe, as `head` does.
        let _ = writeln!(stdout(), "{HELP}");
        return ExitCode::SUCCESS;
    }

    let problem = if words.is_empty() {
        PROBLEM.to_owned()
    } else {
        words.join(" ")
    };

    match solve(problem).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn solve(problem: String) -> Result<ExitCode, Box<dyn Error>> {
    let console = Arc::new(ConsoleReporter::stdout());
    let client = model(RuleBasedClient::new().with_delay(delay()))?;
    let flow = ChainOfThought::new(client)
        .with_reporter(Arc::clone(&console))
        .into_flow();

    let token = CancellationToken::new();
    tokio::spawn(cancel_on_ctrl_c(token.clone()));

    let mut reasoning = Reasoning::new(problem);
    let mut run = flow.begin().with_cancellation(token);

    match run.finish(&mut reasoning).await {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) if error.is_cancelled() => {
            console.interrupted(&reasoning);
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(error) => Err(error.into()),
    }
}

/// The exit code that shells report for a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

async fn cancel_on_ctrl_c(token: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        token.cancel();
    }
}

/// On a terminal, the backend is slowed down so that the output can be followed.
fn delay() -> Duration {
    if stderr().is_terminal() {
        Duration::from_millis(1500)
    } else {
        Duration::ZERO
    }
}
