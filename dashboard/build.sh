# Sourced by ./run: the dashboard's page, which is made by npm packages that its lock file pins by checksum.
# ./run build and ./run test need none of this.

setup_node() (
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then install_packages nodejs npm; fi
  stamp=dashboard/node_modules/.installed
  if ! cmp -s dashboard/package-lock.json "$stamp"; then
    say "fetching the dashboard's npm packages"
    (cd dashboard && npm ci --no-progress >../build/npm.log 2>&1) || {
      tail -n 15 build/npm.log >&2
      die "npm could not fetch the packages; full log: build/npm.log"
    }
    cp dashboard/package-lock.json "$stamp"
  fi
)

# The page in build/dashboard/index.html, where `aflguard dashboard` and `cmake --install` look for it.
build_dashboard() (
  mkdir -p build
  setup_node
  node dashboard/build.mjs build/dashboard/index.html
)

# Chromium with at least one font to write with.
setup_browser() { install_packages chromium fonts-dejavu-core; }

check_dashboard() (
  setup_browser
  build release
  build_dashboard
  say "what the page makes of messages"
  node --test dashboard/tests/*.test.mjs
  say "the page in a browser, with a real fleet behind it; screenshots go to build/dashboard/screenshots"
  AFLGUARD_BIN=$PWD/build/release/bin AFLGUARD_SHOTS=$PWD/build/dashboard/screenshots \
    node --test dashboard/tests/browser/dashboard.e2e.mjs
)

bench_dashboard() (
  setup_browser
  build release
  build_dashboard >&2
  AFLGUARD_BIN=$PWD/build/release/bin node dashboard/tests/bench.mjs "$@"
)
