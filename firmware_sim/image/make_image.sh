# Sourced by ./run: what `aflguard image build` needs, and the check that makes, examines and boots an image.
image_packages="mmdebstrap qemu-user-static arch-test uidmap debian-archive-keyring fdisk mtools dosfstools e2fsprogs zstd xz-utils"

# cloud-init itself is only unpacked: installed, it would set this machine up again at its next start.
cloud_init_schema() ( # USER-DATA
  install_packages python3 python3-yaml python3-jsonschema python3-configobj python3-jinja2 python3-oauthlib \
    python3-requests python3-jsonpatch python3-serial python3-netifaces
  target="$(cache_dir)/cloud-init"
  if [ ! -d "$target" ]; then
    work=$(mktemp -d "$(cache_dir)/fetch.XXXXXX")
    (cd "$work" && apt-get -o APT::Sandbox::User="$(id -un)" download cloud-init >apt.log 2>&1) || {
      tail -n 5 "$work/apt.log" >&2
      rm -rf "$work"
      die "apt could not fetch cloud-init"
    }
    unpack_deb "$(echo "$work"/*.deb)" "$target"
    rm -rf "$work"
  fi
  PYTHONPATH="$target/usr/lib/python3/dist-packages" /usr/bin/python3 -m cloudinit.cmd.main schema --config-file "$1"
)

# What goes to stock Raspberry Pi OS: cloud-init must understand it, whatever the device is called.
check_boot_bundle() ( # CLIENT.deb WORK
  rm -rf "$2"
  mkdir -p "$2"
  aflguard=build/release/bin/aflguard
  $aflguard fleet init "$2/fleet" --name orchard >/dev/null
  echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f Jürgen@desk' >"$2/key.pub"
  for name in pi-1 007 1e3 on null; do
    $aflguard device add "$name" --fleet "$2/fleet" >/dev/null
    $aflguard device bundle "$name" --fleet "$2/fleet" --boot --deb "$1" --ssh-key "$2/key.pub" -o "$2/$name" >/dev/null
    cloud_init_schema "$2/$name/user-data" || die "cloud-init does not accept $2/$name/user-data"
    /usr/bin/python3 - "$name" "$2/$name" <<'PYTHON' || die "YAML does not read $2/$name as it is meant"
import sys, yaml
name, folder = sys.argv[1:]
user = yaml.safe_load(open(folder + "/user-data"))
meta = yaml.safe_load(open(folder + "/meta-data"))
assert user["hostname"] == meta["local-hostname"] == name, (user, meta)
assert meta["instance-id"].startswith("aflguard-" + name + "-"), meta
assert user["bootcmd"][-1][-2:] == ["sh", "/boot/firmware/aflguard/setup.sh"], user
PYTHON
  done
  $aflguard device bundle pi-1 --fleet "$2/fleet" --boot --deb "$1" -o "$2/without-key" >/dev/null
  cloud_init_schema "$2/without-key/user-data" || die "cloud-init does not accept $2/without-key/user-data"
)

# The image that simulated boards boot, in build/board.img; any fleet's boards may. No image has the program that lies:
# it is built beside it.
make_board_image() (
  # shellcheck disable=SC2086
  install_packages $image_packages qemu-system-arm
  make_packages client arm64
  build arm64 -DAFLGUARD_TESTS=OFF -- aflguard-byzantine-client
  build release -- aflguard aflguard-client aflguard-gateway aflguard-byzantine-client
  build/release/bin/aflguard image build --fleet none --deb "$(client_package)" -o build/board.img "$@"
)

# One board by hand, looked at from all sides; then two in a simulation, one of which lies. AFLGUARD_SEED makes its
# faults others.
check_image() (
  # shellcheck disable=SC2086
  install_packages $image_packages qemu-system-arm mosquitto-clients iproute2
  build release -- aflguard aflguard-gateway test.scenarios
  make_board_image
  check_boot_bundle "$(client_package)" build/check/boot-bundle
  sh tests/image/run.sh build/release/bin "$(client_package)" build/check/image
  simulate_at_length image=2 mnist 1
)
