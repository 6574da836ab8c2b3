//! The scripts, one for each transition, and what each is made of.
//!
//! A script is one piece of straight code, from clock to answer: what it doesn't need is not in it. Nothing is defined
//! that does not run, since Lua pays for each definition in each call.

use counterfoil_core::store::RETENTION_SKEW;

use crate::script::Script;

macro_rules! lua {
    ($name:literal) => {
        include_str!(concat!("../lua/", $name, ".lua"))
    };
}

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
    pub(super) sift: Script,
    pub(super) pick: Script,
    pub(super) drop: Script,
}

impl Scripts {
    /// On the server's own clock.
    pub(super) fn new() -> Self {
        Self::on(lua!("clock"))
    }

    /// On a clock that a test moves on.
    pub(super) fn ahead() -> Self {
        Self::on(lua!("clock_ahead"))
    }

    fn on(clock: &str) -> Self {
        let skew = RETENTION_SKEW.as_millis().to_string();
        let names = lua!("names").replace("{skew}", &skew);
        let script = |parts: &[&str]| {
            let mut all = vec![clock, &names, lua!("stands")];
            all.extend_from_slice(parts);
            Script::new(&all)
        };
        let (present, record) = (lua!("present"), lua!("record"));
        let (as_read, evidence) = (lua!("as_read"), lua!("evidence"));
        let (write, tell, show) = (lua!("write"), lua!("tell"), lua!("show"));
        let owners = |transition| script(&[present, record, transition, write, tell]);
        let others = |transition| script(&[present, record, transition, as_read, write, show]);
        Self {
            acquire: script(&[
                lua!("first"),
                record,
                lua!("acquire"),
                write,
                lua!("claimed"),
            ]),
            renew: owners(lua!("renew")),
            complete: script(&[
                present,
                lua!("plain_end"),
                record,
                lua!("complete"),
                evidence,
                write,
                tell,
            ]),
            release: owners(lua!("release")),
            annotate: owners(lua!("annotate")),
            receive: script(&[
                present,
                record,
                lua!("receive"),
                as_read,
                evidence,
                write,
                tell,
            ]),
            fence: others(lua!("fence")),
            resolve: others(lua!("resolve")),
            cancel: others(lua!("cancel")),
            entomb: script(&[lua!("entomb"), write, show]),
            find: script(&[present, lua!("find")]),
            sift: Script::new(&[clock, &names, lua!("sift")]),
            pick: script(&[present, record, lua!("pick")]),
            drop: script(&[lua!("drop")]),
        }
    }
}
