pub(crate) mod cancel;
pub(crate) mod deliver;
pub(crate) mod progress;
pub(crate) mod run;
