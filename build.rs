//! Checks early that OpenBLAS can be linked, and writes the C header when asked (feature `header`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "openblas")]
    openblas::check();
    #[cfg(feature = "header")]
    header::write();
}

/// Without this check a missing OpenBLAS shows only when the last artefact is linked, as `cannot
/// find -lopenblas` below a page of linker arguments.
#[cfg(feature = "openblas")]
mod openblas {
    use std::env;
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};
    use std::process::{Command, exit};

    const MISSING: &str = "
ndblas: OpenBLAS, which the default feature `openblas` links, was not found for {target}.

Two ways out:

  1. Install it:
       Debian, Ubuntu    apt install libopenblas-dev
       Fedora, RHEL      dnf install openblas-devel
       Arch              pacman -S openblas
       Alpine            apk add openblas-dev
       macOS (Homebrew)  brew install openblas
     (for a cross build: the target's package, found by the target's linker or by PKG_CONFIG_PATH
     with PKG_CONFIG_ALLOW_CROSS=1; a library elsewhere is found with RUSTFLAGS=\"-L /its/folder\")

  2. Build without a BLAS: every routine is there, on the built-in kernels.
       cargo build --no-default-features
       ndblas = { version = \"0.1\", default-features = false }    # in a Cargo.toml
";

    pub fn check() {
        // docs.rs has no OpenBLAS and never links. On Windows openblas-src finds the library by
        // vcpkg or msys2 and stops by itself without it.
        if env::var_os("DOCS_RS").is_some()
            || env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("windows")
        {
            return;
        }
        println!("cargo::rerun-if-env-changed=RUSTFLAGS");
        let (mut dirs, mut libs) = (Vec::new(), vec!["openblas".to_owned()]);
        // The crate by which openblas-src searches, so that both find the same library, cross
        // builds included.
        match pkg_config::Config::new().cargo_metadata(false).probe("openblas") {
            Ok(found) => (dirs, libs) = (found.link_paths, found.libs),
            // Where openblas-src found it by other means (Homebrew), it says so in its metadata.
            Err(_) => dirs.extend(env::var_os("DEP_OPENBLAS_LIBRARY").map(PathBuf::from)),
        }
        let Err(stderr) = links(&dirs, &libs) else { return };
        // A linker that cannot make even an empty program (`cargo check` for a target whose linker
        // is not here) says nothing about OpenBLAS.
        if links(&[], &[]).is_err() {
            println!("cargo::warning=OpenBLAS was not checked: no working linker for the target");
            return;
        }
        // Its own words without the page of arguments before them.
        stderr
            .lines()
            .filter(|l| l.contains("blas") && !l.contains("\"-"))
            .for_each(|l| eprintln!("{}", l.trim()));
        eprintln!("{}", MISSING.replace("{target}", &env::var("TARGET").unwrap_or_default()));
        exit(1);
    }

    /// Links, without running it, a program that calls one function of the library, with the
    /// compiler, linker and flags of the build itself: right for a cross build too.
    fn links(dirs: &[PathBuf], libs: &[String]) -> Result<(), String> {
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let (source, program) = (out.join("probe.rs"), out.join("probe"));
        let text = if libs.is_empty() {
            "fn main() {}"
        } else {
            "unsafe extern \"C\" { fn cblas_daxpy(); }
             fn main() { std::hint::black_box(cblas_daxpy as *const ()); }"
        };
        std::fs::write(&source, text).map_err(|e| e.to_string())?;
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "--crate-type=bin", "--crate-name=probe", "--target"]);
        rustc.arg(env::var_os("TARGET").expect("cargo sets TARGET"));
        rustc.arg("-o").arg(&program).arg(&source);
        if let Some(linker) = env::var_os("RUSTC_LINKER") {
            rustc.arg(prefixed("-Clinker=", Path::new(&linker)));
        }
        if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
            rustc.args(flags.split('\x1f').filter(|f| !f.is_empty()));
        }
        rustc.args(dirs.iter().map(|d| prefixed("-L", d)));
        rustc.args(libs.iter().map(|l| format!("-l{l}")));
        let run = rustc.output().map_err(|e| e.to_string())?;
        _ = std::fs::remove_file(&program);
        if run.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&run.stderr).into_owned())
        }
    }

    fn prefixed(flag: &str, path: &Path) -> OsString {
        let mut arg = OsString::from(flag);
        arg.push(path);
        arg
    }
}

/// `OUT_DIR/ndblas.h`, which `make header` copies to include/ and tests/header.rs compares with the
/// copy there.
#[cfg(feature = "header")]
mod header {
    use cbindgen::{Builder, Config, DocumentationStyle, Language, SortKey, Style};
    use std::env;
    use std::path::PathBuf;

    /// The order of these files is the order of the header.
    const SOURCES: [&str; 8] =
        ["numbers", "types", "level1", "fused", "permute", "indexed", "blas", "runtime"];

    pub fn write() {
        let root = PathBuf::from(
            env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"),
        );
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        // The modules one by one and not the crate: exports live in these alone, and imported
        // `extern "C"` declarations elsewhere would become prototypes.
        let mut builder = Builder::new().with_config(config());
        for name in SOURCES {
            let file = root.join(format!("src/capi/{name}.rs"));
            println!("cargo::rerun-if-changed={}", file.display());
            builder = builder.with_src(file);
        }
        builder
            .generate()
            .unwrap_or_else(|e| panic!("cbindgen: {e}"))
            .write_to_file(out.join("ndblas.h"));
    }

    fn config() -> Config {
        let version = |part| {
            let n = env::var(format!("CARGO_PKG_VERSION_{part}")).expect("cargo sets the version");
            format!("\n#define NDBLAS_VERSION_{part} {n}")
        };
        let mut c = Config {
            language: Language::C,
            cpp_compat: true,
            // A struct tag as well as a typedef, so that a caller's header can declare it ahead.
            style: Style::Both,
            include_guard: Some("NDBLAS_H".into()),
            no_includes: true,
            sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
            after_includes: Some(["MAJOR", "MINOR", "PATCH"].map(version).concat()),
            autogen_warning: Some(
                "/* Generated from src/capi by cbindgen: change it there, then `make header`. */"
                    .into(),
            ),
            // isize becomes ptrdiff_t and not intptr_t.
            usize_is_size_t: true,
            documentation_style: DocumentationStyle::Cxx,
            line_length: 110,
            tab_width: 4,
            sort_by: SortKey::None,
            ..Config::default()
        };
        c.function.sort_by = Some(SortKey::None);
        c.constant.sort_by = Some(SortKey::None);
        c
    }
}
