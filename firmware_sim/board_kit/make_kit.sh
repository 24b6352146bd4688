# Sourced by ./run: what virtual boards boot from (aflguard sim up --depth board), in build/board-kit. Kernel, shell and
# libraries are Debian's packages for arm64, unpacked; nothing is mounted and nothing runs as root.

# The arm64 package of that name -> its .deb, in the cache, once per version.
arm64_deb() ( # PACKAGE
  version=$(apt-cache show --no-all-versions "$1:arm64" 2>/dev/null | sed -n 's/^Version: //p')
  [ -n "$version" ] || die "apt knows no package $1 for arm64; 'apt-get update' may help"
  deb="$(cache_dir)/arm64-$1_$(printf '%s' "$version" | tr ':/' '__').deb"
  if [ ! -f "$deb" ]; then
    say "fetching $1 $version for arm64"
    work=$(mktemp -d "$(cache_dir)/fetch.XXXXXX")
    (cd "$work" && apt-get -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 download "$1:arm64=$version" >apt.log 2>&1) || {
      tail -n 5 "$work/apt.log" >&2
      rm -rf "$work"
      die "apt could not fetch $1 for arm64"
    }
    mv "$work"/*.deb "$deb"
    rm -rf "$work"
  fi
  printf '%s' "$deb"
)

# The package linux-image-cloud-arm64 names the kernel of the day.
arm64_kernel_package() (
  apt-cache depends --no-recommends --no-suggests linux-image-cloud-arm64:arm64 2>/dev/null |
    sed -n 's/.*Depends: \(linux-image-[^:]*\).*/\1/p' | head -n 1
)

# Shared libraries that the given programs need, each with its own needs, from Debian's folders for arm64.
arm64_libraries_of() ( # FILE...
  todo=$*
  seen=" "
  while [ -n "$todo" ]; do
    next=
    for file in $todo; do
      for name in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        case $seen in *" $name "*) continue ;; esac
        seen="$seen$name "
        for folder in "$(dirname "$1")" "$(dirname "$1")/../lib" /usr/lib/aarch64-linux-gnu /lib/aarch64-linux-gnu /usr/aarch64-linux-gnu/lib; do
          if [ -f "$folder/$name" ]; then
            printf '%s\n' "$folder/$name"
            next="$next $folder/$name"
            continue 2
          fi
        done
        die "there is no $name for arm64; ./run arm64 installs what boards need"
      done
    done
    todo=$next
  done
)

setup_boards() { install_packages qemu-system-arm e2fsprogs cpio kmod binutils xz-utils; }

# Modules in the order in which they must be loaded, uncompressed, into TARGET.
collect_modules() ( # UNPACKED-KERNEL TARGET MODULE...
  tree=$1
  target=$2
  shift 2
  release=$(ls "$tree/lib/modules")
  /sbin/depmod -b "$tree" "$release"
  mkdir -p "$target"
  : >"$target/order"
  for module in "$@"; do
    line=$(grep -E "/$module\.ko[^/:]*:" "$tree/lib/modules/$release/modules.dep") || continue # built in
    # What it depends on is listed from the nearest to the farthest.
    for path in $(printf '%s\n' "$line" | tr -d ':' | tr ' ' '\n' | tac); do
      name=$(basename "$path")
      plain=${name%.xz}
      grep -qx "$plain" "$target/order" && continue
      case $name in
        *.xz) xz -dc "$tree/lib/modules/$release/$path" >"$target/$plain" ;;
        *) cp "$tree/lib/modules/$release/$path" "$target/" ;;
      esac
      echo "$plain" >>"$target/order"
    done
  done
)

make_board_kit() (
  programs=build/arm64/bin
  kit=build/board-kit
  [ -x $programs/aflguard-client ] || die "there is no $programs/aflguard-client; ./run arm64 builds it"
  kernel=$(arm64_kernel_package)
  [ -n "$kernel" ] || die "apt knows no linux-image-cloud-arm64; 'apt-get update' may help"
  # Made again only when something in it has changed.
  fingerprint=$(
    echo "$kernel"
    cat firmware_sim/board_kit/make_kit.sh firmware_sim/board_kit/init $programs/aflguard-client $programs/aflguard-byzantine-client | sha256sum
  )
  if [ -f $kit/made-of ] && [ "$(cat $kit/made-of)" = "$fingerprint" ]; then return 0; fi
  say "making what virtual boards boot from ($kernel)"
  kernel_deb=$(arm64_deb "$kernel")
  busybox_deb=$(arm64_deb busybox-static)
  work=$(mktemp -d build/board-kit.XXXXXX)
  dpkg-deb -x "$kernel_deb" "$work/kernel"
  dpkg-deb -x "$busybox_deb" "$work/busybox"
  mkdir -p "$work/kit" "$work/initrd/bin" "$work/root"
  cp "$work"/kernel/boot/vmlinuz-* "$work/kit/vmlinuz"
  cp "$work/busybox/bin/busybox" "$work/initrd/bin/"
  install -m 755 firmware_sim/board_kit/init "$work/initrd/init"
  collect_modules "$work/kernel" "$work/initrd/modules" virtio_mmio virtio_blk virtio_net
  (cd "$work/initrd" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -9 >"$work/kit/initrd.gz"

  root=$work/root
  mkdir -p "$root/usr/bin" "$root/usr/lib/aarch64-linux-gnu" "$root/usr/lib/aflguard" "$root/etc/aflguard" "$root/var/lib/aflguard" \
    "$root/tmp" "$root/proc" "$root/sys" "$root/dev"
  ln -s usr/lib "$root/lib"
  cp $programs/aflguard-client $programs/aflguard-byzantine-client "$root/usr/bin/"
  runtime=$(readlink -f $programs/libonnxruntime.so.1 2>/dev/null || true)
  [ -f "$runtime" ] || runtime="$(onnx_runtime_folder)/aarch64/libonnxruntime.so.1"
  cp "$runtime" "$root/usr/lib/aflguard/libonnxruntime.so.1"
  libraries=$(arm64_libraries_of $programs/aflguard-client $programs/aflguard-byzantine-client "$runtime") || exit 1
  # shellcheck disable=SC2086
  cp -L $libraries "$root/usr/lib/aarch64-linux-gnu/"
  ln -s aarch64-linux-gnu/ld-linux-aarch64.so.1 "$root/usr/lib/ld-linux-aarch64.so.1"
  echo "10.0.2.2 localhost" >"$root/etc/hosts"
  echo "hosts: files" >"$root/etc/nsswitch.conf"
  size=$(($(du -sk "$root" | cut -f 1) * 9 / 8 + 8192))
  /sbin/mke2fs -q -F -t ext4 -O ^has_journal -L root -E root_owner=0:0 -d "$root" "$work/kit/root.img" "${size}k" >/dev/null
  printf '%s\n' "$fingerprint" >"$work/kit/made-of"
  rm -rf $kit
  mv "$work/kit" $kit
  rm -rf "$work"
)
