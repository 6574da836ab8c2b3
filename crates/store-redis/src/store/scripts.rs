//! The scripts, one for each transition.

use crate::script::Script;

#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) acquire: Script,
    pub(super) renew: Script,
    pub(super) complete: Script,
    pub(super) release: Script,
    pub(super) annotate: Script,
    pub(super) receive: Script,
    pub(super) fence: Script,
    pub(super) resolve: Script,
    pub(super) cancel: Script,
    pub(super) entomb: Script,
    pub(super) find: Script,
    pub(super) pick: Script,
    pub(super) drop: Script,
}

impl Scripts {
    /// `clock` says where the time comes from.
    pub(super) fn new(clock: &str) -> Self {
        let script = |transition| Script::new(clock, transition);
        Self {
            acquire: script(include_str!("../lua/acquire.lua")),
            renew: script(include_str!("../lua/renew.lua")),
            complete: script(include_str!("../lua/complete.lua")),
            release: script(include_str!("../lua/release.lua")),
            annotate: script(include_str!("../lua/annotate.lua")),
            receive: script(include_str!("../lua/receive.lua")),
            fence: script(include_str!("../lua/fence.lua")),
            resolve: script(include_str!("../lua/resolve.lua")),
            cancel: script(include_str!("../lua/cancel.lua")),
            entomb: script(include_str!("../lua/entomb.lua")),
            find: script(include_str!("../lua/find.lua")),
            pick: script(include_str!("../lua/pick.lua")),
            drop: script(include_str!("../lua/drop.lua")),
        }
    }
}
