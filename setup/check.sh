# Sourced by ./run check: everything that takes longer than ./run test should.

check_format() {
  say "format"
  git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror
}

# The sanitizers' builds run every test. ONNX Runtime itself is not instrumented, so leaks of its statics are not ours.
check_sanitizers() {
  for preset in asan tsan; do
    say "sanitizers: $preset"
    build $preset
    ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="suppressions=$PWD/tests/support/tsan.supp" \
      ctest --test-dir "build/$preset" --output-on-failure --parallel "$(jobs)"
  done
}

check_static_analysis() {
  say "clang-tidy"
  git ls-files '*.cpp' | grep -v '^tests/' | xargs -P "$(jobs)" -n 4 clang-tidy --quiet -p build/release
}

# Kills at random moments, more of them than in ./run test and each time others.
check_faults() {
  seed=$(date +%s)
  say "faults: AFLGUARD_SEED=$seed AFLGUARD_ROUNDS=40 repeats them"
  AFLGUARD_SEED=$seed AFLGUARD_ROUNDS=40 ctest --test-dir build/release --output-on-failure \
    -R 'gateway_server.crash_recovery|edge_client.fleet_of_clients'
}

check_all() {
  build release
  check_format
  check_static_analysis
  check_faults
  check_sanitizers
  say "everything holds"
}
