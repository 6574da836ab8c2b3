//! What it says to people.

use tests::{Call, Gateway, Program, transfer};

#[tokio::test]
async fn answers_come_in_chinese() {
    let gateway = Gateway::start(&["--lang", "zh"]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    assert!(
        is_chinese(&previewed.reply.text("summary")),
        "{:#?}",
        previewed.reply
    );
    let foreign = gateway.caller("acme/agent-8");
    let unconfirmed = agent.status_by(&previewed.fingerprint).await;
    unconfirmed.assert_answer(200, "not_started", "not_yet");
    previewed.confirm().await.assert_told(201, "completed");
    for (reply, status, word) in [
        (unconfirmed, 200, "not_started"),
        (previewed.confirm().await, 201, "already_completed"),
        (previewed.status().await, 200, "already_completed"),
        (
            previewed.confirm_with(&transfer(1)).await,
            422,
            "params_changed",
        ),
        (agent.preview_bytes("{").await, 422, "params_invalid"),
        (
            foreign
                .confirm_bytes(&previewed.fingerprint, transfer(1).to_string())
                .await,
            403,
            "fingerprint_invalid",
        ),
        (gateway.send(previewed.call()).await, 401, "unauthenticated"),
        (
            agent.send(Call::get("/metrics")).await,
            501,
            "not_implemented",
        ),
        (
            agent.preview_bytes(transfer(10_000).to_string()).await,
            501,
            "not_implemented",
        ),
        (foreign.status(&previewed.id).await, 404, "not_found"),
    ] {
        reply.assert_told(status, word);
        for member in ["meaning", "instruction"] {
            assert!(is_chinese(&reply.text(member)), "{member}: {reply:#?}");
        }
        // A sentence that was left in English would have more.
        let words = reply
            .text("meaning")
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|w| w.len() > 2)
            .count();
        assert!(words < 6, "{reply:#?}");
    }
}

#[test]
fn the_demo_ends_well_and_shows_both_ledgers() {
    for (lang, title) in [("en", "The two ledgers"), ("zh", "两本账")] {
        let demo = Program::gateway(["demo", "--lang", lang]).finish();
        assert_eq!(demo.code, Some(0), "{demo:#?}");
        assert!(
            !demo.stdout.contains('\u{1b}'),
            "escape codes in a pipe: {}",
            demo.stdout
        );
        let (story, ledgers) = demo
            .stdout
            .rsplit_once(title)
            .expect("the ledgers come at the end");
        assert!(story.lines().count() > 20, "{story}");
        assert!(ledgers.contains("Counterfoil"), "{ledgers}");
        assert_eq!(is_chinese(story), lang == "zh", "{story}");
        for word in [
            "params_changed",
            "fingerprint_invalid",
            "outcome_unknown",
            "already_completed",
            "in_progress",
        ] {
            assert!(story.contains(word), "{word} is missing: {story}");
        }
        assert!(!demo.stderr.contains("panicked"), "{}", demo.stderr);
    }
}

fn is_chinese(text: &str) -> bool {
    text.chars()
        .filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c))
        .count()
        >= 2
}
