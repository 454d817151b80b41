//! Processes that are killed and started again.

use std::process::{Child, Command, Stdio};

use crate::Result;

pub(crate) struct Process {
    command: Command,
    child: Child,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null());
        let child = command.spawn()?;
        Ok(Self { command, child })
    }

    /// Starts this program again, as a worker.
    pub(crate) fn worker(arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").args(arguments);
        Self::start(command)
    }

    /// Kills the process with signal 9.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            return Err(format!("a process ended by itself: {status}").into());
        }

        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn start_again(&mut self) -> Result<()> {
        self.child = self.command.spawn()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
