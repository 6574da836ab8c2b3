//! Every answer as a caller gets it: compared byte for byte with its golden file, and held against the published
//! schema. `COUNTERFOIL_BLESS=1` writes the golden files anew, to be read before they are committed.

mod samples;
mod schema;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use counterfoil_core::{
    answer::{Answer, Executed, Status, Wording},
    store::StoredResult,
};
use schema::Schema;
use serde_json::{Value, json};

fn languages() -> [(&'static str, Wording); 2] {
    [("en", Wording::english()), ("zh", Wording::chinese())]
}

fn golden_dir(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/answers")
        .join(language)
}

fn published_schema() -> Schema {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/answer.schema.json");
    Schema::parse(&fs::read(path).expect("the schema is there"))
}

fn render(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.to_agent_json(&Wording::english())).expect("an answer is JSON")
}

#[test]
fn every_answer_is_what_its_golden_file_says() {
    let bless = std::env::var_os("COUNTERFOIL_BLESS").is_some();
    for (language, wording) in languages() {
        let dir = golden_dir(language);
        let mut left = BTreeSet::new();
        if bless {
            fs::create_dir_all(&dir).expect("the directory can be made");
        }
        for entry in fs::read_dir(&dir).expect("the directory is there") {
            left.insert(entry.expect("a directory entry").path());
        }
        for sample in samples::all() {
            let path = dir.join(format!("{}.json", sample.name));
            let mut told = sample.answer.to_agent_json(&wording);
            told.push(b'\n');
            left.remove(&path);
            if bless {
                fs::write(&path, told).expect("the file can be written");
                continue;
            }
            let golden = fs::read(&path).unwrap_or_default();
            assert!(
                golden == told,
                "{} differs; COUNTERFOIL_BLESS=1 writes it anew\ngolden: {}answer: {}",
                path.display(),
                String::from_utf8_lossy(&golden),
                String::from_utf8_lossy(&told),
            );
        }
        assert!(left.is_empty(), "golden files of no answer: {left:?}");
    }
}

#[test]
fn every_golden_answer_keeps_to_the_schema() {
    let schema = published_schema();
    for (language, _) in languages() {
        for sample in samples::all() {
            let path = golden_dir(language).join(format!("{}.json", sample.name));
            let golden: Value =
                serde_json::from_slice(&fs::read(&path).expect("the golden file is there"))
                    .expect("a golden file is JSON");
            if let Err(fault) = schema.check(&golden) {
                panic!("{}: {fault}", path.display());
            }
            for member in golden.as_object().expect("an object").keys() {
                assert!(
                    schema.describes(member),
                    "{}: {member} is not described",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_schema_knows_the_same_words_and_pairs_as_the_code() {
    let schema = published_schema();
    let words: BTreeSet<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(schema.words("status"), words);
    let words: BTreeSet<_> = Executed::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(schema.words("executed"), words);

    for &status in Status::ALL {
        for executed in Executed::ALL {
            let mut told = render(&Answer::new(status));
            told["executed"] = json!(executed.as_str());
            let allowed = status.possible_executed().contains(&executed);
            assert_eq!(schema.check(&told).is_ok(), allowed, "{status}, {executed}");
        }
        let mut told = render(&Answer::new(status));
        assert!(schema.check(&told).is_ok(), "{status}");
        told["retryable"] = json!(told["retryable"] == json!(false));
        assert!(
            schema.check(&told).is_err(),
            "{status} with the other `retryable`"
        );
    }
}

#[test]
fn the_schema_refuses_what_is_no_answer() {
    let schema = published_schema();
    let good = render(&Answer::new(Status::InProgress).with_attempt(1));
    assert_eq!(schema.check(&good), Ok(()));
    let changes: [(&str, Value); 10] = [
        ("status", json!("fine")),
        ("executed", json!(true)),
        ("this_call", json!("run")),
        ("retryable", json!("no")),
        ("meaning", json!("")),
        ("attempt", json!(0)),
        ("poll_after_ms", json!(-1)),
        ("state", json!("done")),
        ("result_encoding", json!("base64")),
        ("operation_id", json!(7)),
    ];
    for (member, value) in changes {
        let mut bad = good.clone();
        bad[member] = value;
        assert!(schema.check(&bad).is_err(), "{member}");
    }
    for member in [
        "status",
        "executed",
        "this_call",
        "retryable",
        "meaning",
        "instruction",
    ] {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(member);
        assert!(schema.check(&bad).is_err(), "without {member}");
    }
}

#[test]
fn every_way_of_showing_a_result_keeps_to_the_schema() {
    let schema = published_schema();
    for body in ["", "null", "0", "[]", "\"text\"", "{\"a\":1}", "no json"] {
        let told = render(
            &Answer::new(Status::AlreadyCompleted).with_result(StoredResult::json(body.into())),
        );
        assert_eq!(schema.check(&told), Ok(()), "{body}");
    }
}

#[test]
fn the_path_to_poll_stands_only_where_it_is_configured_and_polling_is_next() {
    let wording = Wording::english()
        .with_poll_with("op")
        .with_poll_path("/v1/operations/");
    for sample in samples::all() {
        let told: Value = serde_json::from_slice(&sample.answer.to_agent_json(&wording))
            .expect("an answer is JSON");
        let polls = sample.answer.polls();
        assert_eq!(told.get("poll_with").is_some(), polls, "{}", sample.name);
        let path = sample
            .answer
            .operation_id
            .filter(|_| polls)
            .map(|id| json!(format!("/v1/operations/{id}")));
        assert_eq!(told.get("poll_path"), path.as_ref(), "{}", sample.name);
        if polls {
            assert_eq!(told["poll_with"], "op");
        }
        assert_eq!(published_schema().check(&told), Ok(()), "{}", sample.name);
    }
}
