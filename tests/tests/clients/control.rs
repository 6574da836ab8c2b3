//! The same faults before a service without the library, so that the tests beside this one can fail.

use crate::{
    bare::Bare,
    front::{Fault, Front},
    sdk::BOTH,
};

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn without_the_library_a_lost_answer_a_slow_one_and_a_503_in_its_place_are_two_tickets() {
    let faults: [(Fault, &[&str]); 3] = [
        (Fault::AnswerLost, &[]),
        (Fault::Chaos("delay-after=4000"), &["--timeout", "1.5"]),
        (Fault::AnsweredFor, &[]),
    ];
    for sdk in BOTH {
        for (fault, options) in faults {
            let bare = Bare::start().await;
            let front = Front::start(bare.address(), &[fault]).await;
            let given = sdk.file(front.address(), options).await;
            front.assert_all_placed();
            assert_eq!(given["status"], 201, "{sdk:?}, {fault:?}: {given}");
            assert_eq!(front.attempts().len(), 2, "{sdk:?}, {fault:?}");
            assert_eq!(bare.tickets(), 2, "{sdk:?}, {fault:?}");
            // The user is told of the second alone.
            assert_eq!(given["body"]["ticket_id"], "ticket-2");
        }
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_sdk_that_reaches_for_another_place_is_caught() {
    let bare = Bare::start().await;
    let other = Bare::start().await;
    for sdk in BOTH {
        let ended = sdk.run(bare.address(), other.address().port(), &[]).await;
        assert_eq!(ended.code, Some(97), "{sdk:?}: {ended:#?}");
        assert!(
            ended.stderr.contains("only_there: socket.connect"),
            "{ended:#?}"
        );
    }
    assert_eq!((bare.tickets(), other.tickets()), (0, 0));
}
