//! Days that are over are dropped whole: nobody waits for it, and what has to stay outlives them.

mod common;

#[path = "days/builds.rs"]
mod builds;
#[path = "days/meanwhile.rs"]
mod meanwhile;
#[path = "days/outlives.rs"]
mod outlives;
#[path = "days/racing.rs"]
mod racing;
#[path = "days/stage.rs"]
mod stage;
