//! The crate beside a stand-in for S3.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use crate::address::Address;
use crate::client::{Store, wait};
use crate::listing::Base;
use crate::stand_in::{Counts, Fault, Kind, StandIn};
use crate::{Facts, Listing, Object, refresh};

const fn all(_: &str) -> bool {
    true
}

/// A bucket of a name, and its address.
fn bucket(name: &str) -> (StandIn, Address) {
    let store = StandIn::start();
    let address = Address::parse(&format!("s3://{name}/runs"))
        .unwrap()
        .unwrap();
    Store::set(&address, &store.url());
    (store, address)
}

fn of(address: &Address, below: &str) -> Address {
    address.with_key(&format!("{}/{below}", address.key))
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.iter().map(|(path, _)| path).collect()
}

fn base(address: &Address) -> (Arc<Store>, Arc<Base>) {
    let store = Store::of(address).unwrap();
    let base = Arc::clone(&store.bases.lock()[0]);
    (store, base)
}

/// Lists again now.
fn list_again(address: &Address) {
    let (store, base) = base(address);
    wait(async move { refresh::list_again(&store, &base).await }).unwrap();
}

/// Looks at all that may grow now.
fn look(address: &Address) {
    base(address).1.state.lock().asked.clear();
    look_patiently(address);
}

/// Looks at what is due.
fn look_patiently(address: &Address) {
    let (store, base) = base(address);
    wait(async move { refresh::look(&store, &base).await }).unwrap();
}

fn read_from(address: &Address, from: u64) -> io::Result<Vec<u8>> {
    let mut object = Object::open(address)?;
    object.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    object.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn facts(address: &Address) -> Facts {
    crate::facts(address).unwrap()
}

#[test]
fn one_flat_listing_says_all_and_facts_cost_nothing_more() {
    let (store, address) = bucket("flat");
    for key in ["runs/a/x", "runs/b/y", "runs/b/z.LOG", "runs-2/no", "runs/"] {
        store.put(key, "content");
    }
    let listing = crate::list(&address, |path| !path.ends_with("LOG")).unwrap();
    assert_eq!(paths(&listing), ["a/x", "b/y"]);
    assert_eq!(listing.other["log"], 1);
    assert_eq!(facts(&of(&address, "a/x")).len_bytes, 7);
    let absent = crate::facts(&of(&address, "config.yaml")).unwrap_err();
    assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    assert!(crate::is_folder(&of(&address, "b")).unwrap());
    assert!(!crate::is_folder(&of(&address, "c")).unwrap());
    let folders = [("a".to_owned(), true), ("b".to_owned(), true)];
    assert_eq!(crate::entries(&address, 9), folders);
    assert_eq!(
        crate::entries(&of(&address, "b"), 9),
        [("y".to_owned(), false)]
    );
    let counts = store.take_counts();
    assert_eq!(
        counts,
        Counts {
            lists: 1,
            ..Counts::default()
        }
    );
}

#[test]
fn one_object_is_its_own_listing_and_nothing_asks_again() {
    let (store, address) = bucket("single");
    store.put("runs", "content");
    assert!(crate::list(&address, all).unwrap().is_empty());
    assert_eq!(facts(&address).len_bytes, 7);
    let (_, absent) = bucket("single-absent");
    assert!(crate::list(&absent, all).unwrap().is_empty());
    store.take_counts();
    for _ in 0..9 {
        assert!(crate::list(&absent, all).unwrap().is_empty());
        assert!(crate::facts(&absent).is_err());
        assert!(!crate::is_folder(&absent).unwrap());
        assert_eq!(facts(&address).len_bytes, 7);
    }
    assert_eq!(store.take_counts(), Counts::default());
}

#[test]
fn an_object_that_does_not_grow_is_asked_less_and_less() {
    let (store, address) = bucket("patience");
    store.put("runs/idle", "1");
    store.age("runs/idle", Duration::from_mins(10));
    crate::list(&address, all).unwrap();
    store.take_counts();
    for _ in 0..3 {
        look_patiently(&address);
    }
    assert_eq!(store.take_counts().heads, 1);
}

#[test]
fn a_hundred_thousand_objects_take_about_a_hundred_requests_at_once() {
    let (store, address) = bucket("many");
    for experiment in 0..10 {
        for run in 0..1_000 {
            for file in 0..10 {
                store.put(&format!("runs/e{experiment}/r{run:04}/f{file}"), "");
            }
        }
    }
    store.put("runs/top", "");
    let listing = crate::list(&address, all).unwrap();
    assert_eq!(listing.iter().count(), 100_001);
    let counts = store.take_counts();
    assert!(counts.lists <= 110, "{counts:?}");
}

#[test]
fn a_listing_that_fails_in_the_middle_changes_nothing() {
    let (store, address) = bucket("broken");
    store.put("runs/a", "1");
    crate::list(&address, all).unwrap();
    store.remove("runs/a");
    store.put("runs/b", "1");
    for fault in [
        Fault::CutText,
        Fault::Status(500, "InternalError"),
        Fault::Status(403, "AccessDenied"),
    ] {
        store.fail(Kind::List, fault);
        list_again(&address);
        assert_eq!(paths(&crate::list(&address, all).unwrap()), ["a"]);
        let (_, reason) = crate::problem(&address).unwrap();
        assert!(
            reason.contains("listing s3://broken/runs failed"),
            "{reason}"
        );
        assert!(!reason.contains("secret-of-test"), "{reason}");
    }
    list_again(&address);
    assert_eq!(paths(&crate::list(&address, all).unwrap()), ["b"]);
    assert_eq!(crate::problem(&address), None);
}

#[test]
fn the_first_listing_that_fails_is_an_error_with_its_reason() {
    for (name, status, code, reason) in [
        ("no-bucket", 404, "NoSuchBucket", "no bucket of this name"),
        (
            "skewed",
            403,
            "RequestTimeTooSkewed",
            "the clock of this machine",
        ),
        ("expired", 400, "ExpiredToken", "credentials have expired"),
        (
            "refused",
            403,
            "AccessDenied",
            "the store refuses it (AccessDenied)",
        ),
        ("elsewhere", 301, "PermanentRedirect", "set AWS_REGION"),
    ] {
        let (store, address) = bucket(name);
        store.fail(Kind::List, Fault::Status(status, code));
        let error = crate::list(&address, all).unwrap_err().to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
}

#[test]
fn a_key_that_cannot_be_asked_for_hides_its_folder_alone() {
    let (store, address) = bucket("odd");
    store.put("runs/a/ok", "1");
    store.put("runs/b/x//y", "1");
    store.put("runs/c/ok", "1");
    let listing = crate::list(&address, all).unwrap();
    assert_eq!(paths(&listing), ["a/ok", "c/ok"]);
    assert_eq!(listing.unreadable.len(), 1);
    assert_eq!(listing.unreadable[0].0, "b/x");
}

#[test]
fn long_objects_are_read_ahead_and_equal_what_was_written() {
    let (store, address) = bucket("long");
    let written: Vec<u8> = (0..30_000_000_u32).map(|n| (n % 251) as u8).collect();
    store.put("runs/long", written.clone());
    crate::list(&address, all).unwrap();
    assert_eq!(read_from(&of(&address, "long"), 0).unwrap(), written);
    let counts = store.take_counts();
    // 64 KiB, 128 KiB, … 8 MiB, and the rest.
    assert!(counts.reads <= 12, "{counts:?}");
    assert_eq!(counts.bytes, 30_000_000);
    let object = Object::open(&of(&address, "long")).unwrap();
    let mut part = [0; 10];
    object.read_exact_at(&mut part, 29_999_990).unwrap();
    assert_eq!(part, written[29_999_990..]);
    assert_eq!(object.read_at(&mut part, 30_000_000).unwrap(), 0);
    let beyond = object.read_exact_at(&mut part, 29_999_995).unwrap_err();
    assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn an_object_that_grows_is_read_by_one_request_each_time() {
    let (store, address) = bucket("grows");
    let key = of(&address, "log");
    let mut written = vec![7; 1_000];
    store.put("runs/log", written.clone());
    crate::list(&address, all).unwrap();
    assert_eq!(read_from(&key, 0).unwrap(), written);
    let lineage = facts(&key).lineage;
    store.take_counts();
    for round in 0..5_u8 {
        let before = written.len() as u64;
        written.extend([round; 500]);
        store.put("runs/log", written.clone());
        look(&address);
        let now = facts(&key);
        assert_eq!((now.len_bytes, now.lineage), (before + 500, lineage));
        let object = Object::open(&key).unwrap();
        assert_eq!(object.first(64).unwrap(), [7; 64]);
        drop(object);
        assert_eq!(read_from(&key, before).unwrap(), [round; 500]);
        let counts = store.take_counts();
        assert_eq!((counts.reads, counts.heads, counts.lists), (1, 0, 0));
        assert_eq!(counts.bytes, 500 + 64);
        // Unchanged: one request without bytes.
        look(&address);
        assert_eq!(store.take_counts().bytes, 0);
    }
}

#[test]
fn a_replaced_object_begins_a_new_line_however_alike_its_beginning() {
    let (store, address) = bucket("replaced");
    let key = of(&address, "log");
    let first = [vec![1; 200], vec![2; 200]].concat();
    for second in [
        [vec![1; 200], vec![3; 900]].concat(),
        vec![1; 100],
        [vec![1; 200], vec![4; 200]].concat(),
    ] {
        for lists in [false, true] {
            store.put("runs/log", first.clone());
            crate::list(&address, all).unwrap();
            list_again(&address);
            assert_eq!(read_from(&key, 0).unwrap(), first);
            let lineage = facts(&key).lineage;
            store.put("runs/log", second.clone());
            if lists {
                list_again(&address);
            } else {
                look(&address);
            }
            assert_ne!(facts(&key).lineage, lineage, "{lists}");
            assert_eq!(read_from(&key, 0).unwrap(), second);
        }
    }
}

#[test]
fn an_object_that_changes_while_it_is_read_is_an_error_and_no_mixture() {
    let (store, address) = bucket("changes");
    store.put("runs/weights", vec![1; 1_000_000]);
    crate::list(&address, all).unwrap();
    let mut object = Object::open(&of(&address, "weights")).unwrap();
    let mut bytes = vec![0; 1_000];
    object.read_exact(&mut bytes).unwrap();
    store.put("runs/weights", vec![2; 1_000_000]);
    let error = object.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StaleNetworkFileHandle);
    assert!(error.to_string().contains("changed meanwhile"), "{error}");
    assert!(!bytes.contains(&2));
}

#[test]
fn wrong_answers_to_a_read_are_errors() {
    let (store, address) = bucket("wrong");
    store.put("runs/x", vec![1; 100_000]);
    crate::list(&address, all).unwrap();
    for (fault, reason) in [
        (Fault::Whole, "non-partial"),
        (Fault::Status(403, "InvalidObjectState"), "archived"),
        (Fault::Status(404, "NoSuchKey"), "does not exist"),
    ] {
        store.fail(Kind::Read, fault);
        let object = Object::open(&of(&address, "x")).unwrap();
        let error = object
            .read_at(&mut [0; 10], 50_000)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(read_from(&of(&address, "x"), 0).unwrap(), vec![1; 100_000]);
}

#[test]
fn a_write_fails_if_another_program_wrote_since() {
    let (store, address) = bucket("notes");
    let key = of(&address, ".trainscope/notebook.toml");
    crate::list(&address, all).unwrap();
    crate::put(&key, b"one".to_vec()).unwrap();
    crate::put(&key, b"two".to_vec()).unwrap();
    assert_eq!(read_from(&key, 0).unwrap(), b"two");
    store.put("runs/.trainscope/notebook.toml", "theirs");
    let error = crate::put(&key, b"three".to_vec()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StaleNetworkFileHandle);
    list_again(&address);
    assert_eq!(read_from(&key, 0).unwrap(), b"theirs");
    crate::put(&key, b"three".to_vec()).unwrap();
    assert_eq!(
        store.get("runs/.trainscope/notebook.toml").unwrap(),
        "three"
    );
    crate::remove(&key).unwrap();
    assert_eq!(
        crate::facts(&key).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}

#[test]
fn objects_that_are_old_are_not_asked_again() {
    let (store, address) = bucket("old");
    store.put("runs/old", "1");
    store.age("runs/old", Duration::from_hours(2));
    store.put("runs/young", "1");
    crate::list(&address, all).unwrap();
    store.take_counts();
    look(&address);
    let counts = store.take_counts();
    assert_eq!(counts.heads + counts.reads, 1);
}
