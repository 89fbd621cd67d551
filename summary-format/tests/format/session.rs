//! Messages of live sessions: round trips, unknown parts, truncated and changed frames.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trainscope_format::float::Float;
use trainscope_format::session::{
    ArmOrder, ByeReason, Capability, FailureCode, Framework, Gate, GateReport, GoingReason, Hello,
    HitSentence, HoldReason, HoldReport, ItemList, MAX_HITS, MAX_ITEMS, MAX_TEXT_BYTES,
    MessageError, PauseLevel, Place, SessionHit, SessionItem, SliceHead, StopOrigin, ToServer,
    ToTraining, Welcome,
};
use trainscope_format::tensor::DType;
use trainscope_format::{Role, Severity};

fn hit() -> SessionHit {
    SessionHit {
        condition: "tensor_overflow".into(),
        watchpoint: 3,
        severity: Severity::Error,
        tensor: "decoder.0/\"weight\"".into(),
        step: -7,
        sentence: HitSentence {
            en: "NaN in 3 of 4 elements".into(),
            zh: "4 个元素中有 3 个为 NaN".into(),
        },
        values: BTreeMap::from([
            ("nan".into(), Float(f64::INFINITY)),
            ("zero".into(), Float(-0.0)),
        ]),
        pauses: true,
    }
}

fn gate() -> Gate {
    Gate::new(412, Place::Node("decoder.layer3:attn".into()))
}

fn to_server() -> Vec<ToServer> {
    let item = SessionItem {
        name: "fc1.weight".into(),
        role: Role::Weight,
        dtype: Some(DType::Bf16),
        shape: vec![3, 0],
        place: Some(Place::AfterStep),
    };
    let list = ItemList {
        id: 9,
        items: vec![item],
        cut: true,
    };
    vec![
        ToServer::Hello(Box::new(Hello {
            launch: "job.1".into(),
            run_folder: "/runs/first".into(),
            rank: 2,
            world_size: 4,
            host: "node7".into(),
            pid: 77,
            program: "train.py".into(),
            framework: Framework {
                name: "torch".into(),
                version: "2.9".into(),
            },
            collector: "0.1.0".into(),
            step: 411,
            total_steps: Some(5_000),
            places: vec![Place::BeforeUpdate, Place::AfterStep],
            can: vec![Capability::Read, Capability::Stop],
            next_gate: Gate::new(412, Place::BeforeUpdate),
            held: Some(HoldReport {
                at: gate(),
                reason: HoldReason::Start,
                since_secs: 1.5,
                goes_on_secs: Some(58.5),
            }),
            armed: true,
            pause_at: PauseLevel::Warning,
        })),
        ToServer::Status {
            step: 3,
            step_secs: Float(0.25),
            lost: 1,
            nodes: 2,
            total_steps: Some(9),
            keeps: true,
            places: vec![Place::AfterStep],
        },
        ToServer::Armed { from: Some(gate()) },
        ToServer::Armed { from: None },
        ToServer::Gate(GateReport {
            at: gate(),
            hits: vec![hit()],
            hits_total: 1_000_000,
            is_target: true,
            stops: true,
        }),
        ToServer::Held {
            at: gate(),
            reason: HoldReason::Hit,
            goes_on_secs: Some(60.0),
        },
        ToServer::Going {
            at: gate(),
            why: GoingReason::Limit,
        },
        ToServer::Tensors(list.clone()),
        ToServer::Nodes(list),
        ToServer::Slice(SliceHead {
            id: 1,
            dtype: DType::F32,
            shape: vec![2, 2],
            full_shape: vec![4, 4],
            len_bytes: 16,
            step: 5,
        }),
        ToServer::Failed {
            id: 4,
            code: FailureCode::Gone,
            message: "changed since".into(),
        },
        ToServer::Bye {
            reason: ByeReason::Failed,
            step: 4,
            error: Some("out of memory".into()),
        },
    ]
}

fn to_training() -> Vec<ToTraining> {
    let table = BTreeMap::from([
        ("condition".to_owned(), "loss_nan".into()),
        ("on".to_owned(), true.into()),
    ]);
    vec![
        ToTraining::Welcome(Box::new(Welcome {
            session: "s1".into(),
            watchpoints: Some(vec![table.clone()]),
            pause_at: PauseLevel::Error,
            gate_limit_secs: 2.0,
            hold_limit_secs: 600.0,
            lost_grace_secs: 10.0,
            heartbeat_secs: 1.0,
        })),
        ToTraining::Arm(ArmOrder {
            every: 1,
            names: vec!["*.weight".into()],
            watchpoints: Some(Vec::new()),
        }),
        ToTraining::Disarm,
        ToTraining::Go { at: gate() },
        ToTraining::Hold {
            at: gate(),
            reason: HoldReason::Asked,
        },
        ToTraining::Resume {
            steps: Some(5),
            node: Some("fc1".into()),
        },
        ToTraining::Stop {
            by: StopOrigin::Person,
            hits: vec![hit()],
        },
        ToTraining::Extend { secs: 600.0 },
        ToTraining::Level {
            pause_at: PauseLevel::Warning,
        },
        ToTraining::Keep {
            patterns: vec!["fc*".into()],
        },
        ToTraining::List {
            id: 1,
            pattern: "fc*".into(),
            offset: 256,
        },
        ToTraining::Nodes {
            id: 2,
            pattern: String::new(),
            offset: 0,
        },
        ToTraining::Read {
            id: 3,
            tensor: "fc1".into(),
            slice: vec![(0, 1), (3, 3)],
        },
        ToTraining::Watchpoints {
            list: Some(vec![table]),
            pause_at: Some(PauseLevel::Never),
        },
        ToTraining::Watchpoints {
            list: None,
            pause_at: None,
        },
    ]
}

#[test]
fn messages_survive_the_way() {
    for message in to_server() {
        let text = message.to_text();
        assert_eq!(ToServer::read(&text).as_ref(), Ok(&message), "{text}");
    }
    for message in to_training() {
        let text = message.to_text();
        assert_eq!(ToTraining::read(&text).as_ref(), Ok(&message), "{text}");
    }
}

#[test]
fn numbers_that_are_not_finite_survive_the_way() {
    let message = ToServer::Status {
        step: 1,
        step_secs: Float(f64::NAN),
        lost: 0,
        nodes: 0,
        total_steps: None,
        keeps: false,
        places: vec![Place::AfterStep],
    };
    let read = ToServer::read(&message.to_text());
    let Ok(ToServer::Status { step_secs, .. }) = read else {
        panic!("{read:?}");
    };
    assert!(step_secs.0.is_nan());
}

#[test]
fn fields_and_types_of_later_releases_are_skipped() {
    for (text, wanted) in [
        (r#"{"type":"disarm","why":{"a":[1]}}"#, ToTraining::Disarm),
        (r#"{"type":"dance","step":1}"#, ToTraining::Unknown),
        (
            r#"{"step":1,"type":"go","place":"after_step","new":null}"#,
            ToTraining::Go {
                at: Gate::new(1, Place::AfterStep),
            },
        ),
    ] {
        assert_eq!(ToTraining::read(text), Ok(wanted), "{text}");
    }
    let text = r#"{"type":"hello","launch":"a","run_folder":"/r","next_gate":{"step":0,"place":"after_step"},
        "can":["read","fly"]}"#;
    let Ok(ToServer::Hello(hello)) = ToServer::read(text) else {
        panic!("a short hello is read");
    };
    assert_eq!(hello.can, [Capability::Read, Capability::Unknown]);
    assert_eq!((hello.rank, hello.world_size), (0, 1));
    assert_eq!(ToServer::read(r#"{"type":"song"}"#), Ok(ToServer::Unknown));
}

#[test]
fn limits_are_checked() {
    let long = " ".repeat(MAX_TEXT_BYTES + 1);
    let len_bytes = long.len();
    assert_eq!(
        ToServer::read(&long),
        Err(MessageError::TooLong { len_bytes })
    );
    let report = GateReport {
        at: gate(),
        hits: vec![hit(); MAX_HITS + 1],
        hits_total: 0,
        is_target: false,
        stops: false,
    };
    let error = ToServer::read(&ToServer::Gate(report).to_text()).unwrap_err();
    assert!(error.is_fatal(), "{error}");
    let item = SessionItem {
        name: "a".into(),
        role: Role::Other,
        dtype: None,
        shape: Vec::new(),
        place: None,
    };
    let list = ItemList {
        id: 1,
        items: vec![item; MAX_ITEMS + 1],
        cut: false,
    };
    let error = ToServer::read(&ToServer::Nodes(list).to_text()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message has 257 nodes, and 256 are the limit"
    );
    let syntax = ToTraining::read("{").unwrap_err();
    assert!(!syntax.is_fatal());
}

#[test]
fn places_have_one_text_each() {
    for place in [
        Place::BeforeUpdate,
        Place::AfterStep,
        Place::Node("a:b".into()),
    ] {
        assert_eq!(Place::of_text(&place.to_string()), Some(place));
    }
    for text in ["", "node:", "after", "Node:a"] {
        assert_eq!(Place::of_text(text), None, "{text}");
    }
}

#[test]
fn gates_are_in_the_order_of_a_step() {
    let order = [
        Gate::new(1, Place::AfterStep),
        Gate::new(2, Place::Node("a".into())),
        Gate::new(2, Place::BeforeUpdate),
        Gate::new(2, Place::AfterStep),
    ];
    for (index, gate) in order.iter().enumerate() {
        for (later, other) in order.iter().enumerate() {
            assert_eq!(gate.is_not_after(other), index <= later);
        }
    }
    let [a, b] = ["a", "b"].map(|name| Gate::new(1, Place::Node(name.into())));
    assert!(a.is_not_after(&b) && b.is_not_after(&a));
}

#[test]
fn truncated_frames_are_errors() {
    for text in to_server().iter().map(ToServer::to_text) {
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert!(ToServer::read(&text[..cut]).is_err(), "{}", &text[..cut]);
        }
    }
    for text in to_training().iter().map(ToTraining::to_text) {
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert!(ToTraining::read(&text[..cut]).is_err(), "{}", &text[..cut]);
        }
    }
}

proptest! {
    #[test]
    fn changed_frames_do_not_panic(index in 0_usize..24, at in 0_usize..700, byte: u8) {
        let mut texts: Vec<String> = to_server().iter().map(ToServer::to_text).collect();
        texts.extend(to_training().iter().map(ToTraining::to_text));
        let mut bytes = texts[index % texts.len()].clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        // A WebSocket rejects text that is not UTF-8.
        if let Ok(text) = String::from_utf8(bytes) {
            // A message that is read can be written and read again.
            if let Ok(message) = ToServer::read(&text) {
                prop_assert!(ToServer::read(&message.to_text()).is_ok());
            }
            if let Ok(message) = ToTraining::read(&text) {
                prop_assert!(ToTraining::read(&message.to_text()).is_ok());
            }
        }
    }
}
