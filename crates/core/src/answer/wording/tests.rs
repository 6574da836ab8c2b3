//! What the texts may and may not say.

use std::{collections::BTreeSet, time::Duration};

use super::*;
use crate::{
    answer::{Executed, Status},
    store::StoredResult,
};

/// An answer of each case that has a text of its own, and what is said of it.
fn everything(wording: &Wording) -> Vec<(Answer, Said)> {
    Case::all()
        .map(|case| {
            let mut answer = Answer::new(case.status());
            if let Some(executed) = case.executed() {
                answer = answer.with_executed(executed);
            }
            if case.has_result() == Some(true) {
                answer = answer.with_result(StoredResult::json("{}".into()));
            }
            let said = wording.say(&answer);
            (answer, said)
        })
        .collect()
}

/// Both languages, for fingerprints and for keys.
fn every_wording() -> [Wording; 4] {
    [
        Wording::english(),
        Wording::chinese(),
        Wording::english().for_keys(),
        Wording::chinese().for_keys(),
    ]
}

#[test]
fn where_a_key_names_the_operation_no_text_speaks_of_previews() {
    // `params_changed` and what begins with `fingerprint_` are a fingerprint's alone.
    let of_a_fingerprint = |answer: &Answer| {
        let word = answer.status.as_str();
        word == "params_changed" || word.starts_with("fingerprint_")
    };
    for wording in [Wording::english().for_keys(), Wording::chinese().for_keys()] {
        for (answer, said) in everything(&wording) {
            let both = format!("{} {}", said.meaning, said.instruction)
                .to_lowercase()
                .replace("fingerprints or keys", "")
                .replace("fingerprint or key", "")
                .replace("指纹或键", "");
            let speaks = ["preview", "fingerprint", "confirm", "预览", "指纹", "确认"]
                .iter()
                .any(|word| both.contains(word));
            assert!(
                !speaks || of_a_fingerprint(&answer),
                "{}: {both}",
                answer.status
            );
        }
    }
    let kept = Text::new("Läuft.", "Warten.").expect("valid");
    let wording = Wording::english()
        .with_text(Status::InProgress, kept)
        .for_keys();
    assert_eq!(
        wording.say(&Answer::new(Status::InProgress)).meaning,
        "Läuft."
    );
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', ';', '。', '；'])
}

fn may_have_happened(answer: &Answer) -> bool {
    matches!(
        answer.executed,
        Executed::Yes | Executed::Pending | Executed::Unknown
    )
}

#[test]
fn every_case_has_its_own_text_in_both_languages() {
    for wording in every_wording() {
        let said = everything(&wording);
        let texts: BTreeSet<_> = said
            .iter()
            .map(|(_, said)| (&said.meaning, &said.instruction))
            .collect();
        assert_eq!(texts.len(), said.len(), "two cases share a text");
        for (answer, said) in &said {
            for text in [&said.meaning, &said.instruction] {
                assert!(
                    !text.contains(['{', '}', '?', '？']),
                    "{}: {text}",
                    answer.status
                );
                assert!(text.ends_with(['.', '。']), "{}: {text}", answer.status);
            }
        }
    }
}

#[test]
fn the_built_in_texts_pass_the_check_that_replacements_must() {
    for texts in [
        &english::TEXTS,
        &chinese::TEXTS,
        &english_keys::KEY_TEXTS,
        &chinese_keys::KEY_TEXTS,
    ] {
        for case in Case::all() {
            let executed = case.executed().expect("all cases are full");
            let say = texts.pick(case.status(), executed, case.has_result() == Some(true));
            Text::new(say.meaning, say.instruction).expect("a built-in text is valid");
        }
    }
}

#[test]
fn only_a_retryable_answer_asks_for_the_same_call_again() {
    let asks = ["send this very call again", "原样再发一次"];
    let never = [
        "try again",
        "retry",
        "later again",
        "duplicate",
        "error",
        "重试",
        "再试",
        "稍后",
        "错误",
        "重复请求",
    ];
    for wording in every_wording() {
        for (answer, said) in everything(&wording) {
            let both = format!("{} {}", said.meaning, said.instruction).to_lowercase();
            let status = answer.status;
            assert_eq!(
                asks.iter().any(|ask| both.contains(ask)),
                answer.retryable,
                "{status}"
            );
            for phrase in never {
                assert!(!both.contains(phrase), "{status} says `{phrase}`: {both}");
            }
        }
    }
}

#[test]
fn nothing_that_may_have_happened_is_said_not_to_have() {
    let claims = [
        "did not happen",
        "not happened",
        "nothing happened",
        "can no longer happen",
        "has not run",
        "nothing will",
        "没有发生",
        "还没有执行",
        "不会发生",
        "不会执行",
    ];
    for wording in every_wording() {
        for (answer, said) in everything(&wording) {
            if may_have_happened(&answer) {
                for claim in claims {
                    assert!(
                        !said.meaning.contains(claim),
                        "{}: {}",
                        answer.status,
                        said.meaning
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_final_is_said_to_be() {
    for (wording, final_words) in [
        (Wording::english(), ["can no longer happen", "nothing will"]),
        (Wording::chinese(), ["不会发生", "不会执行"]),
    ] {
        for (answer, said) in everything(&wording) {
            let says = final_words.iter().any(|word| said.meaning.contains(word));
            assert_eq!(
                says,
                answer.executed == Executed::No,
                "{}: {}",
                answer.status,
                said.meaning
            );
        }
    }
}

#[test]
fn doubt_is_said() {
    // Refused before anything was looked up, or not known: either way the text must not stay silent.
    let doubt = [
        "not known",
        "no record says",
        "not looked up",
        "may have been done",
        "used before, for another request",
        "不知道",
        "没有记录能说明",
        "没有去查",
        "有可能已经做过",
        "已用于另一个请求",
    ];
    for wording in every_wording() {
        for (answer, said) in everything(&wording) {
            if answer.executed == Executed::Unknown {
                assert!(
                    doubt
                        .iter()
                        .any(|word| said.meaning.to_lowercase().contains(word)),
                    "{}: {}",
                    answer.status,
                    said.meaning
                );
            }
        }
    }
}

#[test]
fn where_it_may_have_happened_a_preview_is_only_for_what_is_surely_new() {
    for wording in every_wording() {
        for (answer, said) in everything(&wording) {
            // A final failure frees the task; everything else that may have happened needs a condition or a no.
            if !may_have_happened(&answer) {
                continue;
            }
            for sentence in sentences(&said.instruction) {
                let sentence = sentence
                    .to_lowercase()
                    .replace("previewed", "")
                    .replace("预览过的", "");
                let previews = sentence.contains("preview") || sentence.contains("预览");
                let held = ["only", "not ", "neither", "只有", "不要"]
                    .iter()
                    .any(|word| sentence.contains(word));
                assert!(!previews || held, "{}: {sentence}", answer.status);
            }
        }
    }
}

#[test]
fn a_result_is_spoken_of_only_where_it_is() {
    for wording in every_wording() {
        for (answer, said) in everything(&wording) {
            let speaks = [&said.meaning, &said.instruction]
                .iter()
                .any(|text| text.contains("`result`"));
            assert_eq!(speaks, answer.result.is_some(), "{}", answer.status);
        }
    }
}

#[test]
fn the_waiting_time_is_named_where_there_is_one() {
    for wording in every_wording() {
        for (answer, _) in everything(&wording) {
            let marked = answer.clone().with_poll_after(Duration::from_secs(4711));
            let instruction = wording.say(&marked).instruction;
            let waits = answer.poll_after.is_some();
            assert_eq!(
                instruction.contains("4711"),
                waits,
                "{}: {instruction}",
                answer.status
            );
            let asks = ["get_operation", "with its id or key", "编号或键"];
            assert_eq!(
                asks.iter().any(|name| instruction.contains(name)),
                answer.polls(),
                "{}",
                answer.status
            );
        }
    }
}

#[test]
fn a_program_is_sent_to_no_tool_unless_the_service_names_one() {
    for wording in [Wording::english().for_keys(), Wording::chinese().for_keys()] {
        assert_eq!(wording.poll_with(), None);
        for (answer, said) in everything(&wording) {
            let text = said.instruction;
            assert!(
                !text.contains(Wording::POLL_WITH),
                "{}: {text}",
                answer.status
            );
            let json = String::from_utf8(answer.to_agent_json(&wording)).expect("JSON");
            assert!(!json.contains("poll_with"), "{json}");
        }
        let named = wording.with_poll_with("the status page");
        let said = named.say(&Answer::new(Status::InProgress));
        assert!(said.instruction.contains("the status page"));
        assert_eq!(named.poll_with(), Some("the status page"));
    }
    for wording in [Wording::english(), Wording::chinese()] {
        assert_eq!(wording.poll_with(), Some(Wording::POLL_WITH));
    }
}

#[test]
fn seconds_are_rounded_up_and_never_zero() {
    for (ms, shown) in [
        (0, "1 s"),
        (1, "1 s"),
        (1_000, "1 s"),
        (1_001, "2 s"),
        (60_000, "60 s"),
    ] {
        let answer = Answer::new(Status::InProgress).with_poll_after(Duration::from_millis(ms));
        let said = Wording::english().say(&answer);
        assert!(
            said.instruction.contains(&format!("Wait {shown},")),
            "{ms}: {}",
            said.instruction
        );
    }
}

#[test]
fn the_narrower_replacement_wins() {
    let text = |words: &'static str| Text::new(words, "-").expect("valid");
    let wording = Wording::english()
        .with_text((Status::AlreadyExists, Executed::Yes), text("done"))
        .with_text(Status::AlreadyExists, text("any"))
        .with_text(
            Case::from((Status::AlreadyExists, Executed::Yes)).with_result(),
            text("done and shown"),
        );
    let meaning = |answer: &Answer| wording.say(answer).meaning;
    let holder = Answer::new(Status::AlreadyExists);
    assert_eq!(meaning(&holder), "any");
    let done = holder.with_executed(Executed::Yes);
    assert_eq!(meaning(&done), "done");
    let shown = done.with_result(StoredResult::json("{}".into()));
    assert_eq!(meaning(&shown), "done and shown");
    assert!(meaning(&Answer::new(Status::NotFound)).starts_with("This caller"));
}

#[test]
fn placeholders_are_checked_when_a_text_is_made() {
    let id = OperationId::from_bytes([7; 16]);
    let text = Text::new("{operation_id}", "{poll_with} {poll_after}").expect("valid");
    let wording = Wording::chinese()
        .with_text(Status::InProgress, text)
        .with_poll_with("op status");
    let said = wording.say(&Answer::new(Status::InProgress).with_operation(id));
    assert_eq!(
        (said.meaning, said.instruction),
        (id.to_string(), "op status 2".to_owned())
    );

    let refused = |meaning: &'static str| Text::new(meaning, "x").expect_err("invalid");
    assert_eq!(
        refused("{field}"),
        InvalidText::UnknownPlaceholder("field".to_owned())
    );
    assert_eq!(
        refused("{}"),
        InvalidText::UnknownPlaceholder(String::new())
    );
    for lone in ["a { b", "a } b", "{{operation_id}}", "{operation_id"] {
        assert_eq!(refused(lone), InvalidText::LoneBrace, "{lone}");
    }
    assert_eq!(refused(" "), InvalidText::Empty);
    assert_eq!(
        refused("{field}").to_string(),
        "`{field}` is no placeholder; there are {operation_id}, {poll_after} and {poll_with}"
    );
}
