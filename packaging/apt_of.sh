# For other scripts: apt for another architecture or release of Debian, from the mirror that this machine uses. The machine's own lists and
# packages are not touched.
#   apt_of FOLDER ARCHITECTURE TYPES:SUITE...     after it: apt-get -c FOLDER/conf download PACKAGE
apt_of() {
  apt_folder=$1 apt_architecture=$2
  shift 2
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 'Component: main' | head -n 1)
  [ -n "$mirror" ] || { echo "apt: this machine's lists name no mirror of Debian" >&2; return 1; }
  mkdir -p "$apt_folder/lists/partial" "$apt_folder/cache/archives/partial"
  for types in "$@"; do
    printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' \
      "${types%:*}" "$mirror" "${types#*:}" /usr/share/keyrings/debian-archive-keyring.gpg
  done >"$apt_folder/debian.sources"
  cat >"$apt_folder/conf" <<END
APT::Architecture "$apt_architecture";
APT::Architectures "$apt_architecture";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::Etc::sourcelist "$apt_folder/debian.sources";
Dir::Etc::sourceparts "-";
Dir::State::lists "$apt_folder/lists";
Dir::Cache "$apt_folder/cache";
END
  apt-get -c "$apt_folder/conf" update
}
