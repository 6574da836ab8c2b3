//! As much of JSON Schema (draft 2020-12) as the answer's schema uses. A keyword that is not understood is a panic, so
//! that nothing in the schema goes unchecked.

use std::collections::BTreeSet;

use serde_json::Value;

/// A schema for one object.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(serde_json::from_slice(bytes).expect("the schema is JSON"))
    }

    /// Whether the instance keeps to the schema; else where and why it doesn't.
    pub(crate) fn check(&self, instance: &Value) -> Result<(), String> {
        check(&self.0, instance, "")
    }

    /// Whether a member is described.
    pub(crate) fn describes(&self, member: &str) -> bool {
        self.0["properties"].get(member).is_some()
    }

    /// The words that a member may have.
    pub(crate) fn words(&self, member: &str) -> BTreeSet<&str> {
        let words = self.0["properties"][member]["enum"].as_array();
        words
            .expect("the member has an enum")
            .iter()
            .map(|word| word.as_str().expect("a word"))
            .collect()
    }
}

fn check(schema: &Value, instance: &Value, at: &str) -> Result<(), String> {
    let keywords = schema.as_object().expect("a schema is an object here");
    for (keyword, rule) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "title" | "description" | "format" | "contentEncoding" => true,
            // Looked at with `if`.
            "then" => true,
            "type" => has_type(instance, rule.as_str().expect("one type")),
            "const" => instance == rule,
            "enum" => rule.as_array().expect("words").contains(instance),
            "minLength" => instance
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().expect("a length")),
            "maxLength" => instance
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 <= rule.as_u64().expect("a length")),
            "minimum" => instance
                .as_i64()
                .is_none_or(|number| number >= rule.as_i64().expect("a number")),
            "required" => names(rule).all(|name| instance.get(name).is_some()),
            "dependentRequired" => {
                rule.as_object()
                    .expect("an object")
                    .iter()
                    .all(|(name, needs)| {
                        instance.get(name).is_none()
                            || names(needs).all(|need| instance.get(need).is_some())
                    })
            }
            "properties" => {
                for (name, schema) in rule.as_object().expect("an object") {
                    if let Some(member) = instance.get(name) {
                        check(schema, member, &format!("{at}/{name}"))?;
                    }
                }
                true
            }
            "allOf" => {
                for schema in rule.as_array().expect("schemas") {
                    check(schema, instance, at)?;
                }
                true
            }
            "if" => {
                if check(rule, instance, at).is_ok() {
                    check(&schema["then"], instance, at)?;
                }
                true
            }
            other => panic!("the checker doesn't know `{other}`"),
        };
        if !holds {
            return Err(format!("`{at}` breaks `{keyword}`: {rule}"));
        }
    }
    Ok(())
}

fn names(rule: &Value) -> impl Iterator<Item = &str> {
    let names = rule.as_array().expect("names").iter();
    names.map(|name| name.as_str().expect("a name"))
}

fn has_type(instance: &Value, name: &str) -> bool {
    match name {
        "object" => instance.is_object(),
        "string" => instance.is_string(),
        "boolean" => instance.is_boolean(),
        "integer" => instance.is_i64() || instance.is_u64(),
        "null" => instance.is_null(),
        other => panic!("the checker doesn't know the type `{other}`"),
    }
}
