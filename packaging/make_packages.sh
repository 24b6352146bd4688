# Sourced by ./run: Debian packages for this machine's architecture and for arm64 boards.

package_programs() ( # COMPONENT -> its programs
  case $1 in
    client) echo aflguard-client ;;
    gateway) echo aflguard-gateway ;;
    tools) echo aflguard aflguard-bench aflguard-byzantine-client aflguard-bench-peer aflguard-train-probe ;;
    *)
      say "package: there is no package '$1'; the packages are: client gateway tools"
      exit 2
      ;;
  esac
)

# make_packages [client|gateway|tools|amd64|arm64]...: these packages for these architectures, or all, into build/packages.
make_packages() (
  components= presets= programs=
  for word in "$@"; do
    case $word in
      amd64) presets="$presets release" ;;
      arm64) presets="$presets arm64" ;;
      *) components="$components $word" ;;
    esac
  done
  for component in ${components:=client gateway tools}; do
    programs="$programs $(package_programs "$component")" || exit 2
  done
  setup_build
  install_packages dpkg-dev file python3
  [ "${presets:= release arm64}" = " release" ] || setup_arm64
  if [ "$(. /etc/os-release && echo "$VERSION_ID")" != 12 ]; then
    say "this machine is newer than Debian 12: what is built here may not run there (libc6)"
  fi
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
  export SOURCE_DATE_EPOCH
  # The programs of this machine speak for both architectures; aflguard(1) has the page of aflguard-bench, and its
  # two peers need none.
  # shellcheck disable=SC2086
  build release -- $programs
  version=$(product_version)
  rm -rf build/manuals
  # shellcheck disable=SC2046,SC2086
  python3 packaging/make_manuals.py build/release/bin . build/manuals "$version" \
    $(echo $programs | tr ' ' '\n' | grep -v -e aflguard-bench -e train-probe) >build/manuals.log ||
    die "man pages could not be made; see above"
  mkdir -p build/packages
  for preset in $presets; do
    without_tests=
    [ "$preset" = release ] || without_tests=-DAFLGUARD_TESTS=OFF
    # shellcheck disable=SC2086
    build "$preset" -DAFLGUARD_MANUALS="$PWD/build/manuals" $without_tests -- $programs
    log="build/packages-$preset.log"
    # shellcheck disable=SC2086
    cpack --config "build/$preset/CPackConfig.cmake" -B "$PWD/build/packages" -D SHLIBDEPS_EXECUTABLE="$PWD/packaging/debian/shlibdeps" \
      -D CPACK_COMPONENTS_ALL="$(echo $components | tr ' ' ';')" >"$log" 2>&1 || {
      tail -n 30 "$log" >&2
      die "cpack failed; full log: $log"
    }
    rm -rf build/packages/_CPack_Packages
  done
  say "made in build/packages: $(cd build/packages && echo *_"${version}"_*.deb)"
)

# The boards' package that make_packages has made.
client_package() { printf '%s' "build/packages/aflguard-client_$(product_version)_arm64.deb"; }

# The mirror that this machine's apt uses.
debian_mirror() (
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' 'Origin: Debian' 2>/dev/null |
    awk '$2 == "bookworm" || $2 == "trixie" { print $1; exit }'
)

# A fresh Debian with systemd, made once and kept in the cache.
root_archive() ( # SUITE ARCHITECTURE -> path on stdout
  archive="$(cache_dir)/root-$1-$2.tar"
  if [ ! -f "$archive" ]; then
    say "making a root file system: $1 for $2"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || die "apt knows no Debian mirror for bookworm or trixie"
    as_root sh packaging/with_arm64.sh \
      mmdebstrap --quiet --format=tar --variant=minbase --architectures="$2" --include=systemd-sysv,adduser,init-system-helpers "$1" "$archive.part" \
      "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >&2 || die "mmdebstrap failed for $1 $2"
    mv "$archive.part" "$archive"
  fi
  printf '%s' "$archive"
)

# The same packages with a higher version, for the upgrade.
bump_packages() ( # FROM TO ARCHITECTURE
  rm -rf "$2"
  mkdir -p "$2"
  for deb in "$1"/*_"$3".deb; do
    work=$(mktemp -d)
    dpkg-deb -R "$deb" "$work"
    sed -i 's/^Version: .*/&.1/' "$work/DEBIAN/control"
    dpkg-deb -Znone --root-owner-group -b "$work" "$2/$(basename "$deb" .deb)-new.deb" >/dev/null
    rm -rf "$work"
  done
)

# Fresh Debian 12 and 13: install, run, upgrade, remove, purge; and Debian's own checker.
check_packages() (
  install_packages lintian mmdebstrap arch-test
  setup_boards
  make_packages
  make_board_kit
  lintian --fail-on error --suppress-tags-from-file /dev/null build/packages/*.deb
  for architecture in ${AFLGUARD_PACKAGE_ARCHITECTURES:-amd64 arm64}; do
    rm -rf build/packages-old
    mkdir -p build/packages-old
    cp build/packages/*_"$architecture".deb build/packages-old/
    bump_packages build/packages-old build/packages-new "$architecture"
    for suite in bookworm trixie; do
      say "packages in Debian $suite, $architecture"
      as_root sh packaging/check_in_root.sh "$(root_archive $suite "$architecture")" build/packages-old build/packages-new build/board-kit
    done
  done
  rm -rf build/packages-old build/packages-new
)
