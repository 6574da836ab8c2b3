//! What cargo says of this workspace: its packages, their features, and where it builds.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::run::{Bound, Failure, Runner};

/// The workspace that this program belongs to.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, PartialEq, Eq)]
struct Package {
    name: String,
    features: Vec<String>,
}

impl Workspace {
    /// Asks cargo. It reads manifests only: no dependency is resolved, nothing is fetched.
    pub(crate) fn load(runner: &Runner) -> Result<Self, Failure> {
        let mut command = Command::new(cargo());
        command
            .current_dir(root())
            .args(["metadata", "--no-deps", "--format-version", "1"]);
        let bytes = runner.read(&mut command, Bound::of(Duration::from_secs(60)))?;
        Self::from_metadata(&bytes)
            .ok_or_else(|| Failure::Found("cargo metadata answered in an unknown shape".into()))
    }

    /// Where the root manifest lies.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo puts what it builds, `CARGO_TARGET_DIR` taken into account.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Whether a package of that name is a member.
    pub(crate) fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }

    /// The features of a member, sorted, without `default`. None if it is no member.
    pub(crate) fn features(&self, package: &str) -> Option<&[String]> {
        let package = self.packages.iter().find(|member| member.name == package)?;
        Some(&package.features)
    }

    /// A call of cargo at the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command.current_dir(&self.root).args(arguments);
        command
    }

    fn from_metadata(json: &[u8]) -> Option<Self> {
        let metadata: Value = serde_json::from_slice(json).ok()?;
        let packages = metadata["packages"].as_array()?;
        Some(Self {
            root: metadata["workspace_root"].as_str()?.into(),
            target: metadata["target_directory"].as_str()?.into(),
            packages: packages
                .iter()
                .map(Package::from_metadata)
                .collect::<Option<_>>()?,
        })
    }
}

impl Package {
    fn from_metadata(package: &Value) -> Option<Self> {
        let mut features: Vec<String> = package["features"]
            .as_object()?
            .keys()
            .filter(|name| *name != "default")
            .cloned()
            .collect();
        features.sort();
        Some(Self {
            name: package["name"].as_str()?.to_owned(),
            features,
        })
    }
}

/// The cargo that started us, so that every step runs on one toolchain.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The root, before cargo has been asked: two above this crate. The run-time variable comes first, because a checkout
/// may have been moved after the build.
fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.join("../..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        let json = br#"{
            "packages": [
                {"name": "counterfoil", "features": {"tower": [], "default": ["memory"], "memory": []}},
                {"name": "bare", "features": {}}
            ],
            "target_directory": "/w/target",
            "workspace_root": "/w"
        }"#;
        Workspace::from_metadata(json).expect("it has the shape")
    }

    #[test]
    fn features_are_listed_sorted_and_without_the_default() {
        assert_eq!(
            workspace().features("counterfoil"),
            Some(&["memory".to_owned(), "tower".to_owned()][..])
        );
        assert_eq!(workspace().features("bare"), Some(&[][..]));
    }

    #[test]
    fn a_package_that_is_no_member_has_no_list_of_features() {
        assert_eq!(workspace().features("other"), None);
        assert!(!workspace().has_package("other"));
        assert!(workspace().has_package("bare"));
    }

    #[test]
    fn metadata_of_another_shape_is_refused() {
        for json in [&b"{}"[..], b"not json", br#"{"packages": [{}]}"#] {
            assert!(Workspace::from_metadata(json).is_none());
        }
    }
}
