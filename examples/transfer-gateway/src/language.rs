//! The language of answers and of the demo.

use std::str::FromStr;

use counterfoil::answer::{Status, Text, Wording};

/// A language of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    English,
    Chinese,
}

/// Where the status of an operation is asked for, in front of its id.
const STATUS_PATH: &str = "/v1/operations/";

/// What a later version will answer: this one says that, and does nothing.
const NOT_YET_ENGLISH: (&str, &str) = (
    "This version of the service does not offer this; nothing ran, and nothing will. Approvals, which a transfer of \
     10,000 or more needs, come with a later version, and so do deployments.",
    "Tell the user. Calling again changes nothing.",
);
const NOT_YET_CHINESE: (&str, &str) = (
    "本服务的当前版本不提供此功能：什么也没有执行，以后也不会执行。审批（10,000 及以上的转账需要审批）和部署将在以后的版本中提供。",
    "请告知用户。再次调用不会改变任何结果。",
);

impl Language {
    /// The words of answers.
    pub(crate) fn wording(self) -> Wording {
        let (wording, not_yet) = match self {
            Self::English => (Wording::english(), NOT_YET_ENGLISH),
            Self::Chinese => (Wording::chinese(), NOT_YET_CHINESE),
        };
        let (meaning, instruction) = not_yet;
        let not_yet = Text::new(meaning, instruction).expect("a text without placeholders");
        wording
            .with_poll_path(STATUS_PATH)
            .with_text(Status::NotImplemented, not_yet)
    }
}

impl FromStr for Language {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "en" => Ok(Self::English),
            "zh" => Ok(Self::Chinese),
            _ => Err(()),
        }
    }
}
