//! Manifests with a correct checksum and invalid content.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use zippy::{Config, run_with};

use super::{Checkpoints, directory, save_step};

const GENERATION: &str = "step-000000000010.000001";

fn rewrite(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut manifest: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    manifest.as_object_mut().unwrap().remove("checksum");
    change(&mut manifest);
    let body = format!("{}\n", &manifest.to_string()[1..]);
    fs::write(path, format!("{{\"checksum\": \"{:08x}\",\n{body}", crc32fast::hash(body.as_bytes()))).unwrap();
}

type Change = fn(&mut Value);

#[test]
fn contradictions_in_a_manifest_are_refused() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 10)).unwrap();
    let path = directory.path().join(GENERATION).join("manifest.json");
    let whole = fs::read(&path).unwrap();
    let cases: [(&str, Change); 27] = [
        ("the format is \"tar\"", |m| m["format"] = json!("tar")),
        ("a checkpoint of version 2; this program reads version 1", |m| m["version"] = json!(2)),
        ("this machine's is \"little\"", |m| m["byte_order"] = json!("big")),
        ("it is the manifest of step-000000000011.000001", |m| m["step"] = json!(11)),
        ("it is the manifest of step-000000000010.000009", |m| m["number"] = json!(9)),
        ("blocks of 0 bytes", |m| m["block_bytes"] = json!(0)),
        ("blocks of 18446744073709551615 bytes", |m| m["block_bytes"] = json!(u64::MAX)),
        ("checksums of a file of", |m| m["block_bytes"] = json!(100)),
        ("checksums of a file of", |m| drop(m["files"][0]["checksums"].as_array_mut().unwrap().pop())),
        ("checksums of a file of", |m| m["state"]["bytes"] = json!(u64::MAX)),
        ("a state of 65537 bytes; it has at most 65536", |m| {
            m["state"] = json!({"bytes": 65537, "checksums": vec![0; 257]});
        }),
        ("2 parts of 1 ranks", |m| drop(m["files"].as_array_mut().unwrap().pop())),
        ("2 files, and none of rank 9", |m| m["arrays"][0]["parts"][0]["file"] = json!(9)),
        ("a part begins at byte 4, not 0", |m| m["arrays"][0]["parts"][0]["offset"] = json!(4)),
        ("overlap", |m| m["arrays"][0]["parts"][1]["start"] = json!([0, 0])),
        ("of the 527 cells of 31 x 17", |m| drop(m["arrays"][0]["parts"].as_array_mut().unwrap().pop())),
        ("is no part of", |m| m["arrays"][0]["parts"][0]["end"] = json!([32, 17])),
        ("is no part of", |m| m["arrays"][0]["parts"][0] = json!({"file": 0, "offset": 0, "start": [3], "end": [4]})),
        ("array \"array\": ", |m| m["arrays"][0]["parts"][0]["start"] = json!([40, 0])),
        ("array \"array\": ", |m| m["arrays"][0]["shape"] = json!([-31, 17])),
        ("array \"array\": ", |m| m["arrays"][0]["shape"] = json!([i64::MAX, i64::MAX])),
        ("array \"array\": ", |m| m["arrays"][0]["shape"] = json!([1, 1, 1, 1, 1, 1, 31, 17])),
        ("cells of 0 bytes", |m| m["arrays"][0]["element"]["bytes"] = json!(0)),
        ("the parts in the file of rank", |m| m["growables"][0]["parts"][1]["cells"] = json!(99)),
        ("growable array \"list\": 18446744073709551615 cells of 2", |m| {
            m["growables"][0]["parts"][1]["cells"] = json!(u64::MAX);
        }),
        ("two arrays are called \"array\"", |m| m["growables"][0]["name"] = json!("array")),
        ("no manifest of a checkpoint: missing field `arrays`", |m| drop(m.as_object_mut().unwrap().remove("arrays"))),
    ];
    for (wanted, change) in cases {
        fs::write(&path, &whole).unwrap();
        rewrite(&path, change);
        run_with(Config::threads(2), |world| {
            let Err(error) = checkpoints.at(world, 10) else { panic!("{wanted}: it was taken") };
            let error = error.to_string();
            assert!(error.contains(wanted) && error.contains("manifest.json, byte "), "{error}, not {wanted}");
            Ok(())
        })
        .unwrap();
    }
    let deep = format!(
        "{{\"checksum\": \"{:08x}\",\n{}",
        crc32fast::hash("[".repeat(1 << 20).as_bytes()),
        "[".repeat(1 << 20)
    );
    fs::write(&path, deep).unwrap();
    run_with(Config::threads(2), |world| {
        assert!(checkpoints.at(world, 10).err().unwrap().to_string().contains("no manifest of a checkpoint"));
        Ok(())
    })
    .unwrap();
    fs::write(&path, &whole).unwrap();
    rewrite(&path, |_| ());
    run_with(Config::threads(3), |world| super::is_step(&checkpoints.at(world, 10)?, world, 10)).unwrap();
}

#[test]
fn entries_with_other_names_are_ignored() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    let others =
        ["step-5", "step-000000000050", "step-00000000050.000001", "step-000000000050.1", "step-+00000000050.000001"];
    for other in others {
        fs::create_dir(directory.path().join(other)).unwrap();
    }
    fs::write(directory.path().join("step-000000000060.000001"), "a file").unwrap();
    assert_eq!(checkpoints.steps().unwrap(), [0; 0]);
    run_with(Config::threads(2), |world| {
        assert!(checkpoints.latest(world)?.is_none());
        save_step(&checkpoints, world, u64::MAX)?;
        super::is_step(&checkpoints.latest(world)?.unwrap(), world, u64::MAX)
    })
    .unwrap();
    assert_eq!(checkpoints.steps().unwrap(), [u64::MAX]);
    assert_eq!(super::names(directory.path()).len(), others.len() + 2);
}
