# Sourced by ./run check: everything that takes longer than ./run test should.
# One function per part, named check_<part>, which installs what only it needs; a new part also gets a line in check_parts.

# Every part in the order in which all of them run: what needs little or shares builds first, what takes longest last.
check_parts() (
  cat <<'TEXT'
format      clang-format leaves every source as it is
report      what is long, wide, repeated or untested, and how that differs from main; for reading, never fails
arm64       all tests of core and client built for arm64, under QEMU; its gradients beside this machine's
fleet       two virtual boards and four translated ones learn, are killed and starved, and lose nothing
footprint   what the client costs a board: size, memory while it trains, instructions until it has started; 5 % more fail
image       a card's image: made, examined, booted with power cuts, and a simulated fleet of boards that boot it
packages    Debian packages in fresh Debian 12 and 13: install, start, upgrade, remove, purge; lintian
rollout     another model for 20 boards while they are killed and cut off, and a bad one that stops at its canaries
faults      kills, damaged messages and full disks at random moments, each time others
nats        a cluster of three NATS servers carries a fleet
metrics     Prometheus accepts what a gateway tells it; the alert rules and Grafana's questions do what they should
browser     reports open in a real browser
dashboard   the dashboard in a real browser, with a fleet behind it
fuzz        libFuzzer over every place where bytes from the network are read first
tidy        clang-tidy finds nothing
odr         the programs with link-time optimisation: no name has two definitions in one of them
sanitizers  every test with AddressSanitizer and UndefinedBehaviorSanitizer, then those with threads with ThreadSanitizer
TEXT
)

check_part_names() { check_parts | cut -d ' ' -f 1; }

# Debian 12's default clang 14 lacks parts of C++20; Debian 13 no longer has 16.
llvm_version() (
  if apt-cache show clang-16 >/dev/null 2>&1; then echo 16; else echo 19; fi
)

check_format() (
  install_packages clang-format
  git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror
)

# AFLGUARD_AGAINST=REVISION compares with that instead of main.
check_report() (
  install_packages python3
  python3 tests/architecture/report.py ${AFLGUARD_AGAINST:+--against "$AFLGUARD_AGAINST"}
)

check_tidy() (
  llvm=$(llvm_version)
  install_packages "clang-$llvm" "clang-tidy-$llvm"
  configure debug
  git ls-files '*.cpp' | grep -v -e '^tests/' -e '^fuzz/' |
    xargs -P "$(jobs)" -n 4 "clang-tidy-$llvm" --quiet --warnings-as-errors='*' \
      --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-pragmas -p build/debug
)

# What compiles in each file alone may still mean two things in one program.
check_odr() { build odr; }

# More rounds than in ./run test, and each time others.
check_faults() (
  build release
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed ./run check faults repeats this"
  AFLGUARD_SEED=$seed AFLGUARD_ROUNDS=${AFLGUARD_ROUNDS:-40} ctest --test-dir build/release --output-on-failure \
    -R 'scenarios.crash_recovery|scenarios.random_messages|scenarios.fleet_of_clients'
)

# 20 seconds for each target, from its corpus; AFLGUARD_FUZZ_SECONDS gives it more.
check_fuzz() (
  llvm=$(llvm_version)
  install_packages "clang-$llvm" "libclang-rt-$llvm-dev"
  build fuzz -DCMAKE_C_COMPILER="clang-$llvm" -DCMAKE_CXX_COMPILER="clang++-$llvm"
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed ./run check fuzz repeats this"
  for folder in fuzz/corpus/*; do
    target=$(basename "$folder")
    found=build/fuzz/found/$target
    mkdir -p "$found"
    say "fuzz.$target"
    "build/fuzz/fuzz/fuzz.$target" -seed="$seed" -max_total_time="${AFLGUARD_FUZZ_SECONDS:-20}" -timeout=10 -verbosity=0 \
      -print_final_stats=1 -artifact_prefix="build/fuzz/crash-$target-" "$found" "$folder" 2>&1 |
      grep -E '^stat::(number_of|average)|ERROR|SUMMARY|Test unit|Base64' || true
    # grep hides the exit code; what was found does not lie.
    ! ls build/fuzz/crash-"$target"-* >/dev/null 2>&1 ||
      die "fuzz.$target broke: build/fuzz/fuzz/fuzz.$target build/fuzz/crash-$target-* repeats it; the file belongs into $folder"
  done
)

check_nats() (
  install_broker nats-server
  build release
  AFLGUARD_NATS=1 ctest --test-dir build/release --output-on-failure -R 'scenarios.nats_broker'
)

# The folder with Debian's prometheus and promtool: installing the package would start a server.
prometheus_folder() (
  folder=$(cache_dir)/prometheus
  if [ ! -x "$folder/usr/bin/prometheus" ]; then
    mkdir -p "$folder"
    (
      cd "$folder" || exit 1
      rm -f prometheus_*.deb
      apt-get -o Acquire::Retries=3 download prometheus >/dev/null 2>&1 ||
        { as_root apt-get -o DPkg::Lock::Timeout=300 update >/dev/null && apt-get download prometheus >/dev/null; } ||
        exit 1
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xf - ./usr/bin/promtool ./usr/bin/prometheus || exit 1
      rm -f prometheus_*.deb
    ) || die "prometheus could not be taken out of Debian's package"
  fi
  printf '%s' "$folder/usr/bin"
)

check_metrics() (
  programs=$(prometheus_folder)
  promtool=$programs/promtool
  "$promtool" check rules packaging/prometheus/alerts.yml
  (cd packaging/prometheus && "$promtool" test rules alerts.test.yml)
  # The scrape example names the rules where they are installed.
  example=$(mktemp -d)
  sed "s,/etc/prometheus/aflguard-alerts.yml,$PWD/packaging/prometheus/alerts.yml," packaging/prometheus/scrape.yml >"$example/prometheus.yml"
  "$promtool" check config "$example/prometheus.yml"
  rm -r "$example"
  build release
  AFLGUARD_PROMTOOL=$promtool AFLGUARD_PROMETHEUS=$programs/prometheus ctest --test-dir build/release --output-on-failure \
    -R 'scenarios.live_telemetry|scenarios.watching'
)

check_browser() (
  install_packages chromium
  build release
  ctest --test-dir build/release --output-on-failure -R 'in_browser'
)

# The simulated fleet of ./run test at length: starved, killed by chance for some minutes, and started again another day.
simulate_at_length() ( # BOARDS DATASET MINUTES
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed repeats the faults of $1"
  AFLGUARD_CACHE=$(cache_dir) AFLGUARD_BIN=$PWD/build/release/bin AFLGUARD_SEED=$seed AFLGUARD_SIM_DEPTH=$1 \
    AFLGUARD_SIM_DATASET=$2 AFLGUARD_SIM_MINUTES=$3 build/release/tests/test.scenarios sim_verbs
)

# With programs of this machine, and then on boards: two virtual machines and four arm64 programs, one of which lies,
# against one gateway. AFLGUARD_SIM_DEPTH, AFLGUARD_SIM_DATASET, AFLGUARD_SIM_MINUTES and AFLGUARD_SEED make the second one
# another.
check_fleet() (
  setup_arm64
  setup_boards
  build release
  build arm64 -DAFLGUARD_TESTS=OFF
  make_board_kit
  simulate_at_length native=3 synthetic 0.1
  simulate_at_length "${AFLGUARD_SIM_DEPTH:-board=2,user=4}" "${AFLGUARD_SIM_DATASET:-mnist}" "${AFLGUARD_SIM_MINUTES:-2}"
)

# AFLGUARD_ROLLOUT_BOARDS, AFLGUARD_ROLLOUT_MINUTES and AFLGUARD_SEED make it another one.
check_rollout() (
  build release
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed ./run check rollout repeats its faults"
  AFLGUARD_SEED=$seed AFLGUARD_ROLLOUT_BOARDS=${AFLGUARD_ROLLOUT_BOARDS:-20} \
    AFLGUARD_ROLLOUT_MINUTES=${AFLGUARD_ROLLOUT_MINUTES:-5} build/release/tests/test.scenarios rollout
)

# AFLGUARD_BUDGET=--write makes what is measured the budget.
check_footprint() (
  setup_boards
  install_packages python3 valgrind qemu-user
  make_packages client arm64
  build release -- aflguard aflguard-client aflguard-gateway aflguard-byzantine-client aflguard-train-probe
  build arm64 -DAFLGUARD_TESTS=OFF -- aflguard-client aflguard-byzantine-client aflguard-train-probe
  make_board_kit
  # shellcheck disable=SC2086
  AFLGUARD_CACHE=$(cache_dir) python3 tests/footprint/footprint.py build/release/bin build/arm64/bin "$(client_package)" \
    tests/footprint/budget.json ${AFLGUARD_BUDGET:-}
)

# ONNX Runtime itself is not instrumented, so leaks of its statics are not ours. Tests without threads have no races: preset
# tsan builds those that carry the label threads.
check_sanitizers() (
  say "sanitizers: asan"
  build asan
  ctest --preset asan --parallel "$(jobs)"
  say "sanitizers: tsan"
  build tsan
  ctest --preset tsan --parallel "$(jobs)"
)

# check_named [PART...]: these parts, or all. A name that is not a part stops before anything is built. Several parts run
# one after the other, also when one of them fails: the last line says which did.
check_named() (
  for part in "$@"; do
    check_part_names | grep -Fqx -e "$part" || {
      say "check: there is no part '$part'; the parts are: $(check_part_names | tr '\n' ' ')"
      exit 2
    }
  done
  # shellcheck disable=SC2046  # one word per part
  [ $# -gt 0 ] || set -- $(check_part_names)
  if [ $# -eq 1 ]; then
    say "check: $1"
    setup_build
    "check_$1"
    return
  fi
  failed=
  for part in "$@"; do
    begun=$(date +%s)
    ./run check "$part" || failed="$failed $part"
    say "check: $part took $((($(date +%s) - begun + 30) / 60)) min"
  done
  [ -z "$failed" ] || die "check: of $*, these do not hold:$failed"
  say "everything holds: $*"
)
