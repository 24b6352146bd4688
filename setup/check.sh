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
damage      flipped bits and cut logs of the store; a disk that goes wrong at every single write and sync
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

# 2,000 flipped bits anywhere (half of them in a stopped gateway's files), 500 in indexes, 500 cuts of the log, and every
# crash point with every kind of fault.
check_damage() (
  build release -- test.gateway_server.store test.durability
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed ./run check damage repeats this"
  export AFLGUARD_SEED="$seed" AFLGUARD_FLIPS="${AFLGUARD_FLIPS:-1000}" AFLGUARD_INDEX_FLIPS="${AFLGUARD_INDEX_FLIPS:-500}" \
    AFLGUARD_LOG_CUTS="${AFLGUARD_LOG_CUTS:-500}" AFLGUARD_CRASH_STEP=1
  log=build/check/damage.counts
  mkdir -p build/check
  build/release/tests/test.gateway_server.store store_damage | tee "$log"
  build/release/tests/test.gateway_server.store store_crash_points | tee -a "$log"
  build/release/tests/test.durability file_crash_points | tee -a "$log"
  # tee hides the exit code; the last word does not.
  [ "$(grep -c '^OK$' "$log")" -eq 3 ] || die "damage: see above"
  counted "$(grep -E ' tries, |crash points' "$log" | sed 's/ with everything acknowledged/ whole/' | paste -sd '; ')"
)

# Kills and pauses of gateway, broker and clients: 2,000 rounds, --rounds N makes it others. Each test of a batch tries
# kFaultBatch of them. What held is remembered: the same commit goes on from there, with the same seed.
fault_batch=25
fault_tests=4
check_faults() (
  build release
  wanted=${CHECK_ROUNDS:-2000}
  progress=build/check/faults
  seed=${AFLGUARD_SEED:-$(date +%s)}
  done=0
  # shellcheck disable=SC2034  # what it held when it stopped
  if [ -z "${AFLGUARD_SEED:-}" ] && [ -z "${CHECK_AGAIN:-}" ] && read -r at known held <"$progress" 2>/dev/null &&
    [ "$at" = "$(check_state)" ] && [ "$held" -lt "$wanted" ]; then
    seed=$known
    done=$held
    say "faults: $done of $wanted rounds held at this commit; going on"
  fi
  say "AFLGUARD_SEED=$seed ./run check faults repeats this"
  mkdir -p build/check
  while [ "$done" -lt "$wanted" ]; do
    AFLGUARD_SEED=$((seed + done)) AFLGUARD_ROUNDS=$fault_batch ctest --test-dir build/release --output-on-failure \
      -R 'scenarios.crash_recovery|scenarios.exported_model|scenarios.random_messages|scenarios.fleet_of_clients' >build/check/faults.log 2>&1 || {
      cat build/check/faults.log
      die "faults: after $done rounds; AFLGUARD_SEED=$((seed + done)) AFLGUARD_ROUNDS=$fault_batch repeats the batch"
    }
    done=$((done + fault_batch * fault_tests))
    echo "$(check_state) $seed $done" >"$progress"
    say "faults: $done of $wanted rounds held"
  done
  counted "$done rounds of kills and pauses, seed $seed"
)

# 20 seconds for each target, from its corpus; --hours N shares N hours among them. fuzz/executions.txt sums up what every
# run has tried, by target: commit it.
check_fuzz() (
  llvm=$(llvm_version)
  install_packages "clang-$llvm" "libclang-rt-$llvm-dev"
  seconds=20
  [ -z "${CHECK_HOURS:-}" ] || seconds=$((CHECK_HOURS * 3600 / $(ls -d fuzz/corpus/*/ | wc -l)))
  build fuzz -DCMAKE_C_COMPILER="clang-$llvm" -DCMAKE_CXX_COMPILER="clang++-$llvm"
  seed=${AFLGUARD_SEED:-$(date +%s)}
  say "AFLGUARD_SEED=$seed ./run check fuzz repeats this"
  total=0
  for folder in fuzz/corpus/*/; do
    folder=${folder%/}
    target=$(basename "$folder")
    found=build/fuzz/found/$target
    mkdir -p "$found"
    say "fuzz.$target"
    "build/fuzz/fuzz/fuzz.$target" -seed="$seed" -max_total_time="$seconds" -timeout=10 -verbosity=0 \
      -print_final_stats=1 -artifact_prefix="build/fuzz/crash-$target-" "$found" "$folder" >"build/fuzz/$target.log" 2>&1 || true
    grep -E '^stat::(number_of|average)|ERROR|SUMMARY|Test unit|Base64' "build/fuzz/$target.log" || true
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log")
    add_executions "$target" "${tried:-0}"
    total=$((total + ${tried:-0}))
    # grep hides the exit code; what was found does not lie.
    ! ls build/fuzz/crash-"$target"-* >/dev/null 2>&1 ||
      die "fuzz.$target broke: build/fuzz/fuzz/fuzz.$target build/fuzz/crash-$target-* repeats it; the file belongs into $folder"
  done
  counted "$total executions; $(sed -n 's/^all //p' fuzz/executions.txt) in all runs"
)

# add_executions TARGET COUNT: the sums in fuzz/executions.txt grow.
add_executions() (
  file=fuzz/executions.txt
  touch "$file"
  awk -v target="$1" -v count="$2" '
    $1 != "all" && NF == 2 { sum[$1] = $2 }
    END {
      sum[target] += count
      for (name in sum) { all += sum[name]; printf "%s %.0f\n", name, sum[name] | "sort" }
      close("sort")
      printf "all %.0f\n", all
    }' "$file" >"$file.new"
  mv "$file.new" "$file"
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

# What was tried, for the table of the whole check.
counted() { say "counted: $*"; }

# The commit, and what is changed beside it: a part that held is done for this state.
check_state() (
  state=$(git rev-parse --short=12 HEAD 2>/dev/null || echo none)
  changed=$(git diff HEAD 2>/dev/null | sha256sum | cut -c1-8)
  [ "$changed" = e3b0c442 ] && echo "$state" || echo "$state-$changed"
)

# run_part PART: its result, count and minutes become a line of build/check/done: STATE PART RESULT MINUTES COUNT.
run_part() (
  part=$1
  mkdir -p build/check
  begun=$(date +%s)
  { CHECK_CHILD=1 ./run check "$part" && echo held || echo broke; } 2>&1 | tee "build/check/$part.log"
  result=$(tail -n 1 "build/check/$part.log")
  count=$(sed -n 's/^run: counted: //p' "build/check/$part.log" | paste -sd '; ')
  [ -n "$count" ] || count=$(sed -n 's/^100% tests passed, 0 tests failed out of \([0-9]*\)$/\1 tests/p' "build/check/$part.log" | paste -sd '+')
  skipped=$(sed -n 's/^run: skipped: //p' "build/check/$part.log" | paste -sd '; ')
  [ -z "$skipped" ] || count="skipped: $skipped"
  echo "$(check_state) $part $result $((($(date +%s) - begun + 30) / 60)) ${count:--}" >>build/check/done
  [ "$result" = held ]
)

# done_part PART: the newest line of it for this state.
done_part() (
  awk -v state="$(check_state)" -v part="$1" '$1 == state && $2 == part { line = $0 } END { if (line) print line }' \
    build/check/done 2>/dev/null
)

check_table() (
  echo "| part | tried | result | minutes |"
  echo "|---|---|---|---|"
  for part in "$@"; do
    # shellcheck disable=SC2034  # the state is the same for all
    done_part "$part" | { read -r state name result minutes count && echo "| $name | $count | $result | $minutes |" || echo "| $part | - | not run | - |"; }
  done
)

# check_named [--again] [--rounds N] [--hours N] [PART...]: these parts, or all. A name that is not a part stops before
# anything is built. All of them go on after an interruption: what held at this commit is not run again, but with --again.
# The table at the end is also in build/check/table.md.
check_named() (
  while [ $# -gt 0 ]; do
    case $1 in
      --again) export CHECK_AGAIN=1; shift ;;
      --rounds) export CHECK_ROUNDS="$2"; shift 2 ;;
      --hours) export CHECK_HOURS="$2"; shift 2 ;;
      -*) say "check: there is no option '$1'; the options are --again, --rounds N and --hours N"; exit 2 ;;
      *) break ;;
    esac
  done
  for part in "$@"; do
    check_part_names | grep -Fqx -e "$part" || {
      say "check: there is no part '$part'; the parts are: $(check_part_names | tr '\n' ' ')"
      exit 2
    }
  done
  if [ -n "${CHECK_CHILD:-}" ]; then
    say "check: $1"
    setup_build
    "check_$1"
    return
  fi
  resumes=
  # shellcheck disable=SC2046  # one word per part
  [ $# -gt 0 ] || { resumes=yes; set -- $(check_part_names); }
  failed=
  for part in "$@"; do
    if [ -n "$resumes" ] && [ -z "${CHECK_AGAIN:-}" ] && done_part "$part" | grep -q " $part held "; then
      say "check: $part held at this commit already; --again repeats it"
      continue
    fi
    run_part "$part" || failed="$failed $part"
  done
  check_table "$@" | tee build/check/table.md
  [ -z "$failed" ] || die "check: of $*, these do not hold:$failed"
  say "everything holds: $*"
)
