# Sourced by ./run: the cross build for 64-bit ARM boards with Debian's multiarch packages, and QEMU to run its tests.

# What the boards' programs link, for their architecture. Headers of the others are the same on every architecture.
arm64_libraries="libprotobuf-dev libpng-dev liblzma-dev zlib1g-dev libcbor-dev libzstd-dev libmbedtls-dev libssl-dev
  libpaho-mqttpp-dev libpaho-mqtt-dev libsqlite3-dev"

# Debian's libonnx for arm64 cannot be installed beside the machine's own (both bring /usr/lib/libonnxifi.so, which we
# do not need): it is unpacked into the cache. The folder is named by the package's version.
fetch_arm64_onnx() (
  version=$(dpkg-query -W -f '${Version}' libonnx-dev)
  target="$(cache_dir)/arm64-onnx-$version"
  [ -d "$target" ] && return 0
  say "fetching libonnx $version for arm64"
  work=$(mktemp -d "$(cache_dir)/fetch.XXXXXX")
  (
    cd "$work" || exit 1
    for pause in 5 20 0; do
      apt-get -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)" download libonnx1:arm64 libonnx-dev:arm64 >apt.log 2>&1 && break
      [ $pause -gt 0 ] || exit 1
      sleep $pause
      as_root apt-get -o Acquire::Retries=3 update >>apt.log 2>&1
    done
    mkdir unpacked
    for deb in *.deb; do dpkg-deb -x "$deb" unpacked || exit 1; done
    mv unpacked "$target"
  ) || {
    tail -n 5 "$work/apt.log" >&2
    rm -rf "$work"
    say "apt could not fetch libonnx1 and libonnx-dev for arm64"
    return 1
  }
  rm -rf "$work"
)

# Installs what preset arm64 needs, or says why it cannot (returns 1; the log's end is shown).
try_setup_arm64() (
  wanted="g++-aarch64-linux-gnu qemu-user-static"
  for library in $arm64_libraries; do wanted="$wanted $library:arm64"; done
  # shellcheck disable=SC2086
  if [ -z "$(missing_packages $wanted)" ]; then
    fetch_arm64_onnx
    return
  fi
  case $(dpkg --print-architecture) in
    amd64) ;;
    *)
      say "the cross build for arm64 is made on amd64 machines; this one is $(dpkg --print-architecture)"
      return 1
      ;;
  esac
  if ! dpkg --print-foreign-architectures | grep -qx arm64; then
    (as_root dpkg --add-architecture arm64) || return 1
  fi
  # Both architectures must have the same version of a library, so the machine's own may have to be upgraded with it.
  # shellcheck disable=SC2086
  apt_install $wanted $arm64_libraries && fetch_arm64_onnx
)

setup_arm64() { try_setup_arm64 || die "without these packages nothing can be built for arm64"; }

# A board's unit tests under QEMU: the quick ones, in ./run test. Machines that cannot have them say so and go on.
# Arguments that choose none of them choose others.
test_arm64_quick() ( # CTEST-ARGUMENT...
  if try_setup_arm64; then
    build arm64-quick
    ctest --test-dir build/arm64-quick -L emulated --output-on-failure --parallel "$(jobs)" "$@" --no-tests=ignore
  else
    say "SKIPPED: the tests for arm64 boards, for the reason above; everything else is tested"
  fi
)

# Inner loops that a board spends its time in, as the compiler left them; with cycles where llvm-mca is installed.
check_arm64_loops() ( # BUILD-FOLDER
  mca=${AFLGUARD_MCA:-$(command -v llvm-mca || true)}
  python3 tests/disassembly/hot_loops.py ${mca:+--mca "$mca"} aarch64-linux-gnu-objdump \
    "$1"/core/kernels/CMakeFiles/core.kernels.dir/variant_baseline.cpp.o \
    "$1"/core/aggregation/vectors/CMakeFiles/core.aggregation.vectors.dir/span_passes_baseline.cpp.o \
    "$1"/core/aggregation/vectors/CMakeFiles/core.aggregation.vectors.dir/vector_passes_baseline.cpp.o
)

# All tests of what boards run, under QEMU, and gradients beside this machine's. Gateways and tools are built for arm64, too;
# their packages are tried by check packages.
check_arm64() (
  setup_arm64
  install_packages python3
  build release -- aflguard
  build arm64 -DAFLGUARD_TESTS=ON -DAFLGUARD_ONLY_TESTS=device -- aflguard aflguard-client tests.chosen
  check_arm64_loops build/arm64
  python3 tests/cross_check/arm64_gradients.py build/release/bin/aflguard build/arm64/emulated-bin/aflguard
  # Left out: what measures memory, which would be the emulator's; and what asks whether a program could be started, since QEMU's
  # user mode has no vfork and does not tell.
  ctest --test-dir build/arm64 -L emulated --output-on-failure --parallel "$(jobs)" --no-tests=error -E 'client_memory|child_process'
)
