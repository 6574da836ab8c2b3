//! Which requests are one, over real sockets, by fingerprint and by key: spelling, digits, size, and the rules by which a
//! credential was given out.

mod common;

use bytes::Bytes;
use common::{
    Script,
    modes::{EVERYWHERE, Mode, Site, echo, odd_pieces, store},
    server::{BOTH, Protocol},
};
use counterfoil_core::params::{Numbers, ParamsPolicy};
use counterfoil_tower::Body;

#[tokio::test]
async fn another_order_white_space_and_escapes_are_the_same_request() {
    let body = r#"{"a":1,"list":[1,{"x":"é","y":null}],"s":"q/r"}"#;
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
        let credential = site.credential(body).await;
        let first = site.ask(&credential, body).await;
        assert_eq!(first.body, body.as_bytes(), "{everywhere:?}");
        for same in [
            r#"{"s":"q/r","list":[1,{"y":null,"x":"é"}],"a":1}"#,
            "\t{ \"a\" : 1,\r\n\"list\": [ 1 , {\"x\":\"é\",\"y\":null}] ,\"s\":\"q/r\" }\n",
            r#"{"\u0061":1,"list":[1,{"x":"\u00E9","\u0079":null}],"s":"\u0071\/r"}"#,
        ] {
            site.assert_replay(&site.ask(&credential, same).await, &first);
        }
        assert_eq!(site.runs(), 1);
    }
}

#[tokio::test]
async fn another_order_of_an_array_and_another_case_of_a_name_are_another_request() {
    let body = r#"{"a":1,"A":2,"list":[1,2]}"#;
    let others = [
        r#"{"a":1,"A":2,"list":[2,1]}"#,
        r#"{"a":2,"A":1,"list":[1,2]}"#,
        r#"{"a":1,"list":[1,2]}"#,
        r#"{"A":2,"list":[1,2]}"#,
        r#"{"a":1,"A":2,"List":[1,2]}"#,
    ];
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
        let credential = site.credential(body).await;
        assert_eq!(site.ask(&credential, body).await.word(), "completed");
        for other in others {
            site.assert_changed(&site.ask(&credential, other).await);
        }
        assert_eq!(site.runs(), 1);
    }
}

#[tokio::test]
async fn two_large_integers_are_never_one_number() {
    // Each pair is one double.
    let pairs = [
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551615", "18446744073709551616"),
        ("-9007199254740993", "-9007199254740992"),
    ];
    let shapes = [r#"{"n":#}"#, r#"{"deep":[{"n":[0,#]}]}"#];
    for everywhere in EVERYWHERE {
        let exact = ParamsPolicy::default().with_numbers(Numbers::Exact);
        let site = Site::open(everywhere, &store(), |gate| gate.with_params(exact), echo).await;
        let mut expected = 0;
        for (one, other) in pairs {
            for shape in shapes {
                let [one, other] = [one, other].map(|digits| shape.replace('#', digits));
                for (sent, neighbour) in [(&one, &other), (&other, &one)] {
                    let credential = site.credential(sent).await;
                    if everywhere.0 == Mode::Fingerprint {
                        // Told before anything ran, too.
                        let changed = site.ask(&credential, neighbour.clone().into_bytes()).await;
                        site.assert_changed(&changed);
                        assert_eq!(site.runs(), expected);
                    }
                    let first = site.ask(&credential, sent.clone().into_bytes()).await;
                    assert_eq!(first.word(), "completed");
                    assert_eq!(first.body, sent.as_bytes(), "no digit is lost on the way");
                    expected += 1;
                    let changed = site.ask(&credential, neighbour.clone().into_bytes()).await;
                    site.assert_changed(&changed);
                    assert_eq!(site.runs(), expected);
                }
            }
        }
    }
}

#[tokio::test]
async fn by_default_an_integer_that_no_reader_can_hold_is_refused_and_not_rounded() {
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
        let body = r#"{"n":18446744073709551615}"#;
        let credential = site.credential(body).await;
        assert_eq!(site.ask(&credential, body).await.word(), "completed");
        let past = site.ask(&credential, r#"{"n":18446744073709551616}"#).await;
        assert_eq!(
            (past.head.status.as_u16(), past.word()),
            (422, "params_invalid")
        );
        assert_eq!(site.runs(), 1);
    }
}

#[tokio::test]
async fn a_body_of_a_mebibyte_is_the_same_in_odd_frames_and_its_last_byte_counts() {
    let head = r#"{"text":""#;
    let text = "0123456789abcdef".repeat((1 << 20) / 16);
    let whole = format!("{head}{}\"}}", &text[..(1 << 20) - head.len() - 2]);
    assert_eq!(whole.len(), 1 << 20);
    let mut changed = whole.clone().into_bytes();
    let last = changed.len() - 3;
    changed[last] ^= 1;
    let whole = Bytes::from(whole);
    let framed = || Body::new(Script::data(odd_pieces(&whole)));
    for everywhere in EVERYWHERE {
        for frames_first in [false, true] {
            let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
            let credential = site.credential(&whole).await;
            let in_one = || Body::from(whole.clone());
            let (one, two) = match frames_first {
                true => (framed(), in_one()),
                false => (in_one(), framed()),
            };
            let first = site.ask(&credential, one).await;
            assert_eq!(first.word(), "completed", "{everywhere:?}");
            assert!(first.body == whole, "the handler gets every byte");
            let again = site.ask(&credential, two).await;
            assert_eq!(again.word(), "already_completed", "{everywhere:?}");
            site.assert_changed(&site.ask(&credential, changed.clone()).await);
            assert_eq!(site.runs(), 1);
        }
    }
}

#[tokio::test]
async fn without_a_credential_no_two_calls_share_anything_and_the_store_is_not_asked() {
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
        let refused = match everywhere.0 {
            Mode::Fingerprint => (428, "fingerprint_required"),
            Mode::Key => (400, "key_required"),
        };
        for body in [r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":2}"#] {
            let told = site.send(site.request(None, body)).await;
            assert_eq!((told.head.status.as_u16(), told.word()), refused);
            assert_eq!(told.header("counterfoil-operation-id"), "");
        }
        assert_eq!((site.runs(), site.asked()), (0, 0));
    }
}

/// Two bodies that a policy which ignores the note takes for one. Of the first the bound text is the same without it.
const PLAIN: &str = r#"{"a":1}"#;
const NOTED: &str = r#"{"a":1,"note":"x"}"#;

/// Sites over one store: one whose rules ignore the note, and one whose rules bind all.
async fn older_and_newer(mode: Mode, protocol: Protocol) -> (Site, Site) {
    let store = store();
    let older = ParamsPolicy::all_but(["/note"]);
    let at = (mode, protocol);
    let older = Site::open(at, &store, |gate| gate.with_params(older), echo).await;
    let newer = Site::open(at, &store, |gate| gate, echo).await;
    (older, newer)
}

#[tokio::test]
async fn what_was_given_out_under_other_rules_is_never_run_by_these() {
    for protocol in BOTH {
        for (body, other) in [(PLAIN, NOTED), (NOTED, PLAIN)] {
            let (older, newer) = older_and_newer(Mode::Fingerprint, protocol).await;
            let credential = older.credential(body).await;
            let told = newer.ask(&credential, body).await;
            newer.assert_changed(&told);
            assert_eq!(told.json()["executed"], "not_yet");
            assert_eq!(newer.runs(), 0);
            // The rules that it was given out under still take it, and its result is told by them alone.
            let first = older.ask(&credential, body).await;
            older.assert_replay(&older.ask(&credential, other).await, &first);
            let told = newer.ask(&credential, body).await;
            newer.assert_changed(&told);
            assert_eq!(told.json()["executed"], "yes");
            assert!(told.json().get("result").is_none());
            assert_eq!((older.runs(), newer.runs()), (1, 0));
        }
    }
}

#[tokio::test]
async fn what_a_key_ran_under_other_rules_is_not_run_again_by_these() {
    for protocol in BOTH {
        for (body, other) in [(PLAIN, NOTED), (NOTED, PLAIN)] {
            let (older, newer) = older_and_newer(Mode::Key, protocol).await;
            let credential = older.credential(body).await;
            let first = older.ask(&credential, body).await;
            older.assert_replay(&older.ask(&credential, other).await, &first);
            for again in [body, other] {
                newer.assert_changed(&newer.ask(&credential, again).await);
            }
            assert_eq!((older.runs(), newer.runs()), (1, 0));
        }
    }
}

#[tokio::test]
async fn a_fingerprint_of_a_format_that_is_not_known_is_refused_and_runs_nothing() {
    let body = r#"{"a":1}"#;
    for protocol in BOTH {
        let site = Site::open((Mode::Fingerprint, protocol), &store(), |gate| gate, echo).await;
        let good = site.credential(body).await;
        for prefix in ["fp2", "fp0", "fp11", "FP1", "cf1", "fp"] {
            let other = good.replacen("fp1", prefix, 1);
            let told = site.ask(&other, body).await;
            assert_eq!(
                (told.head.status.as_u16(), told.word()),
                (400, "fingerprint_mistyped"),
                "{prefix}"
            );
        }
        assert_eq!((site.runs(), site.asked()), (0, 0));
        assert_eq!(site.ask(&good, body).await.word(), "completed");
    }
}
