//! The C header, the Cython declarations and the dynamic exports name the same functions, and the
//! committed header is what src/capi gives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn committed_header() -> String {
    std::fs::read_to_string(root().join("include/ndblas.h"))
        .expect("include/ndblas.h: `make header` writes it")
}

/// The names that stand before a `(` in C or Cython text.
fn called_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in text.match_indices('(') {
        let before = text[..at].trim_end();
        let start = before.rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
        if before[start..].starts_with("ndblas_") {
            names.insert(before[start..].to_owned());
        }
    }
    names
}

fn without_c_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        rest = rest[start..].split_once("*/").expect("an open comment").1;
    }
    out.push_str(rest);
    out.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Cython functions with a body of their own are no declarations of exports: only the `cdef extern`
/// block counts.
fn extern_block(pxd: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in pxd.lines() {
        let code = line.split('#').next().unwrap_or("");
        if !code.starts_with([' ', '\t']) && !code.trim().is_empty() {
            inside = code.starts_with("cdef extern");
        } else if inside {
            out.push_str(code);
            out.push('\n');
        }
    }
    out
}

/// The shared library that cargo built beside this test.
fn cdylib() -> PathBuf {
    let exe = std::env::current_exe().expect("this test has a path");
    let dir = exe.parent().expect("it lies in a folder");
    let name = format!("{}ndblas{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    [dir.join(&name), dir.join("..").join(&name)]
        .into_iter()
        .find(|p| p.exists())
        .unwrap_or_else(|| panic!("no {name} in {}", dir.display()))
}

fn exports() -> BTreeSet<String> {
    let macos = cfg!(target_os = "macos");
    let library = cdylib();
    let mut nm = Command::new("nm");
    nm.args(if macos { &["-gU"][..] } else { &["-D", "--defined-only"] }).arg(&library);
    let run = nm.output().expect("nm (binutils) runs");
    assert!(run.status.success(), "{nm:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout)
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|symbol| if macos { symbol.trim_start_matches('_') } else { symbol })
        .map(|symbol| symbol.split('@').next().unwrap_or(symbol).to_owned())
        // What the Rust runtime itself exports on some targets.
        .filter(|symbol| !symbol.starts_with("rust_") && !symbol.starts_with("__rust"))
        .collect()
}

#[track_caller]
fn assert_same(left: (&str, &BTreeSet<String>), right: (&str, &BTreeSet<String>)) {
    let only =
        |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    let (l, r) = (only(left.1, right.1), only(right.1, left.1));
    assert!(l.is_empty() && r.is_empty(), "only in {}: {l:?}; only in {}: {r:?}", left.0, right.0);
}

#[test]
#[cfg(feature = "header")]
fn committed_header_is_fresh() {
    const FRESH: &str = include_str!(concat!(env!("OUT_DIR"), "/ndblas.h"));
    let committed = committed_header();
    if let Some((n, (a, b))) =
        committed.lines().zip(FRESH.lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!(
            "include/ndblas.h is stale: run `make header`. Line {}:\n  there: {a}\n  fresh: {b}",
            n + 1
        );
    }
    assert!(
        committed == FRESH,
        "include/ndblas.h is stale (its length differs): run `make header`"
    );
}

#[test]
#[cfg_attr(not(unix), ignore = "reads symbols with nm")]
fn header_declares_every_export() {
    let declared = called_names(&without_c_comments(&committed_header()));
    assert!(!declared.is_empty(), "no prototype found in include/ndblas.h");
    assert_same(("the header", &declared), ("the shared library", &exports()));
}

#[test]
fn cython_declares_what_the_header_does() {
    let pxd = std::fs::read_to_string(root().join("include/ndblas.pxd"))
        .expect("include/ndblas.pxd declares every prototype of ndblas.h for Cython");
    let declared = called_names(&without_c_comments(&committed_header()));
    assert_same(
        ("the header", &declared),
        ("include/ndblas.pxd", &called_names(&extern_block(&pxd))),
    );
}
