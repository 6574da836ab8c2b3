//! The answer as problem details, RFC 9457: for callers that are programs.

use super::{
    Answer, Wording,
    json::{Object, bool_bytes},
};

impl Answer {
    /// Renders the answer as one JSON object of the media type `application/problem+json`, in a stable order of members;
    /// what is not known is left out.
    ///
    /// `type` is `types`, a `#` and the status in one word; `title` is fixed for each status; `detail` says what happened and
    /// the one thing to do next; `instance` is the operation as `urn:uuid:`. Our own members are `code`, which is the
    /// status's word again (`status` is HTTP's number here), and those of the agent JSON but for texts and result.
    ///
    /// A result has no place here. Whoever has one to tell repeats the first response, or renders
    /// [`to_agent_json`](Self::to_agent_json).
    ///
    /// ```
    /// use counterfoil_core::answer::{Answer, Status, Wording};
    ///
    /// let answer = Answer::new(Status::KeyReused);
    /// let wording = Wording::english().for_keys();
    /// let json = String::from_utf8(answer.to_problem_json(&wording, 422, "/docs/problems.md")).unwrap();
    /// assert!(json.starts_with(r##"{"type":"/docs/problems.md#key_reused","title":"The idempotency key "##));
    /// assert!(json.contains(r#""status":422,"#));
    /// assert!(json.ends_with(r#""code":"key_reused","executed":"unknown","this_call":"not_run","retryable":false}"#));
    /// ```
    #[must_use]
    pub fn to_problem_json(&self, wording: &Wording, http_status: u16, types: &str) -> Vec<u8> {
        let said = wording.say(self);
        let code = self.status.as_str();
        let mut object = Object::new();
        object.text("type", &format!("{types}#{code}"));
        object.text("title", wording.title(self.status));
        object.raw("status", http_status.to_string().as_bytes());
        // Chinese sentences follow each other without a space.
        let between = if said.meaning.ends_with("。") {
            ""
        } else {
            " "
        };
        object.text(
            "detail",
            &[&said.meaning, between, &said.instruction].concat(),
        );
        if let Some(id) = self.operation_id {
            object.text("instance", &format!("urn:uuid:{id}"));
        }
        object.text("code", code);
        object.text("executed", self.executed.as_str());
        object.text("this_call", self.this_call.as_str());
        object.raw("retryable", bool_bytes(self.retryable));
        self.write_facts(&mut object, wording);
        if let Some(result_ref) = &self.result_ref {
            object.text("result_ref", result_ref);
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::{OperationId, answer::Status};

    fn problem(answer: &Answer, wording: &Wording) -> Value {
        serde_json::from_slice(&answer.to_problem_json(wording, 409, "/docs/problems.md"))
            .expect("JSON")
    }

    #[test]
    fn every_status_has_a_type_and_a_title_of_its_own_in_both_languages() {
        for wording in [Wording::english(), Wording::chinese().for_keys()] {
            let mut seen = BTreeSet::new();
            for &status in Status::ALL {
                let problem = problem(&Answer::new(status), &wording);
                assert_eq!(problem["type"], format!("/docs/problems.md#{status}"));
                assert_eq!(problem["code"], status.as_str());
                assert_eq!(problem["status"], 409);
                let title = problem["title"].as_str().expect("a title").to_owned();
                assert!(!title.is_empty() && seen.insert(title), "{status}");
            }
        }
        let wording = Wording::english().with_title(Status::KeyReused, "Schon benutzt");
        let told = problem(&Answer::new(Status::KeyReused), &wording);
        assert_eq!(told["title"], "Schon benutzt");
    }

    #[test]
    fn an_operation_is_the_instance_and_what_is_known_of_it_stands_beside() {
        let id = OperationId::from_bytes([7; 16]);
        let mut answer = Answer::new(Status::InProgress)
            .with_operation(id)
            .with_attempt(2);
        answer.retryable = true;
        let wording = Wording::english()
            .for_keys()
            .with_poll_path("/v1/operations/");
        let told = problem(&answer, &wording);
        assert_eq!(told["instance"], format!("urn:uuid:{id}"));
        assert_eq!(told["operation_id"], id.to_string());
        assert_eq!(told["retryable"], true);
        assert_eq!(told["executed"], "pending");
        assert_eq!(told["attempt"], 2);
        assert_eq!(told["poll_path"], format!("/v1/operations/{id}"));
        assert!(
            told["detail"]
                .as_str()
                .is_some_and(|text| text.contains("same key"))
        );
        assert_eq!(
            problem(&Answer::new(Status::KeyRequired), &wording).get("instance"),
            None
        );
    }
}
