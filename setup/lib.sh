# Sourced by ./run: set-up on a Debian machine, in POSIX shell.
# Functions with a body in parentheses keep their variables to themselves; results go to stdout, news to stderr.
# Packages come by name from the package sources that this machine already uses;
# everything else comes from pinned downloads kept in one cache folder.

say() { printf '%s\n' "run: $*" >&2; }
die() { say "$*"; exit 1; }
# Services and containers may start us without it.
[ -n "${HOME:-}" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
export HOME
jobs() { nproc 2>/dev/null || echo 2; }
cache_dir() { printf '%s' "${AFLGUARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aflguard}"; }

as_root() (
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    die "installing packages needs root: run as root or install sudo (wanted: $*)"
  fi
)

# Names as arguments -> those that dpkg does not report as installed for this machine, or for the architecture in the
# name (libc6-dev:arm64). A machine that builds for boards has some packages for two.
missing_packages() (
  native=$(dpkg --print-architecture)
  for package in "$@"; do
    case $package in
      *:*) wanted=${package##*:} ;;
      *) wanted="$native|all" ;;
    esac
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -Eqx "($wanted) installed" || printf '%s ' "$package"
  done
)

# Waits while another apt is at work, and tries again what the network lost.
# Returns 1, with the end of the log shown, when it cannot.
apt_install() (
  say "installing Debian packages: $*"
  log=$(mktemp)
  for pause in 5 20 0; do
    if (as_root apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update >"$log" 2>&1 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
        install -y --no-install-recommends "$@" >>"$log" 2>&1); then
      rm -f "$log"
      return 0
    fi
    sleep $pause
  done
  tail -n 15 "$log" >&2
  say "apt-get could not install the packages above; full log: $log"
  return 1
)

install_packages() (
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2086  # word splitting of the list is wanted
  apt_install $missing || exit 1
)

build_packages="ca-certificates g++ cmake ninja-build make pkg-config libeigen3-dev libonnx-dev libprotobuf-dev
  protobuf-compiler libcli11-dev nlohmann-json3-dev libpng-dev liblzma-dev zlib1g-dev libcbor-dev libzstd-dev libmbedtls-dev libssl-dev libpaho-mqttpp-dev
  libpaho-mqtt-dev libtoml11-dev libsqlite3-dev sqlite3 libfaketime mosquitto-clients mtools tmux curl"

# Tests and demos start their own brokers, on free ports and as this user. Where installing the package has just
# started Debian's own broker, that one is stopped again; a broker that was there before is left alone.
install_broker() ( # PACKAGE, which is also the name of its service
  [ -n "$(missing_packages "$1")" ] || return 0
  install_packages "$1"
  if [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; then
    as_root systemctl disable --now --quiet "$1.service" ||
      say "$1.service could not be stopped; 'systemctl disable --now $1' does it"
  fi
)

setup_build() (
  command -v apt-get >/dev/null 2>&1 || die "this machine has no apt-get; the set-up supports Debian 12 and 13"
  # shellcheck disable=SC2086
  install_packages $build_packages
  install_broker mosquitto
  mkdir -p "$(cache_dir)"
  fetch_onnx_runtime
  fetch_unity
  fetch_onnx_runtime_headers
)

# The optional baseline of `aflguard bench train`: PyTorch with OpenBLAS. The slow link of `aflguard bench gateway`.
setup_bench() { install_packages python3 python3-torch python3-numpy libopenblas0-pthread iproute2; }

# In the shell that started it: waits for the build that writes to LOG, and shows how far it is: a counter on a terminal, one line otherwise.
watch_build() { # PID LOG PRESET
  # A background process does not hear Ctrl-C by itself.
  trap 'kill "$1" 2>/dev/null; exit 130' INT TERM
  shown=
  while kill -0 "$1" 2>/dev/null; do
    step=$(grep -o '^\[[0-9]*/[0-9]*\]' "$2" | tail -n 1)
    if [ -n "$step" ] && [ -t 2 ]; then
      printf '\rrun: building %s %s ' "$3" "$step" >&2
      shown=yes
    elif [ -n "$step" ] && [ -z "$shown" ]; then
      say "building $3 (the first time takes some minutes; log: $2)"
      shown=yes
    fi
    sleep 0.3
  done
  if [ -n "$shown" ] && [ -t 2 ]; then printf '\r\033[K' >&2; fi
  trap - INT TERM
  wait "$1"
}

configure() ( # PRESET [CMAKE-OPTION...]
  preset=$1
  shift
  mkdir -p build
  cmake --preset "$preset" -DAFLGUARD_CACHE_DIR="$(cache_dir)" "$@" >"build/$preset.log" 2>&1 || {
    tail -n 60 "build/$preset.log" >&2
    die "preset '$preset' cannot be configured; full log: build/$preset.log"
  }
)

# Builds what the preset names, or only the TARGETs.
build() ( # PRESET [CMAKE-OPTION...] [-- TARGET...]
  preset=$1
  shift
  options=
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options="$options $1"
    shift
  done
  [ $# -eq 0 ] || shift
  log="build/$preset.log"
  # shellcheck disable=SC2086  # one word per option; none has a space in it
  configure "$preset" $options
  {
    cmake --build --preset "$preset" --parallel "$(jobs)" ${1:+--target "$@"} >>"$log" 2>&1 &
    watch_build $! "$log" "$preset"
  } || {
    tail -n 60 "$log" >&2
    die "the build of preset '$preset' failed; full log: $log"
  }
)

# What CMake last wrote down; every build has it.
product_version() { cat build/release/version; }
