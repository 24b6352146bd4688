#!/bin/sh
# usage: run.sh BIN CLIENT.deb WORK
# Makes an image, looks at it with the tools that operators have, and boots it as a board would: the image's own kernel,
# initial file system and command line, on QEMU's virt machine. The board takes its identity from the boot partition,
# connects to a broker and a gateway on this machine, and gets verdicts. Its power is cut in the middle of the first
# boot and later while an update waits for its verdict; nothing may be lost or change. At last the card is put into a
# Raspberry Pi 3 as QEMU knows it: another processor, the Pi's own device tree and card controller, a network on USB.
# Emulated, on a busy machine: minutes per boot. Every wait is for an event.
set -eu
bin=$(cd "$1" && pwd) package=$(readlink -f "$2") work=$3
mkdir -p "$work"
work=$(cd "$work" && pwd)
PATH=$bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH MTOOLS_SKIP_CHECK=1
cd "$work"
image=$work/board.img
patience=${AFLGUARD_PATIENCE:-1800} # seconds for one boot under emulation
broker='' gateway='' board=''

say() { printf '%s\n' "image: $*" >&2; }
fail() {
  say "FAILED: $*"
  say "the board's console: $work/console.log"
  tail -n 25 "$work/console.log" >&2 2>/dev/null || true
  exit 1
}
stop() { # SIGNAL PID
  [ -n "$2" ] || return 0
  kill "-$1" "$2" 2>/dev/null || true
  wait "$2" 2>/dev/null || true
}
trap 'stop KILL "$board"; stop TERM "$gateway"; stop TERM "$broker"' EXIT
trap 'exit 130' INT TERM

wait_for() { # WHAT SECONDS COMMAND...
  what=$1 left=$2
  shift 2
  until "$@"; do
    left=$((left - 2))
    [ "$left" -gt 0 ] || fail "waited in vain for $what"
    [ -z "$board" ] || kill -0 "$board" 2>/dev/null || fail "the board ended while waiting for $what"
    sleep 2
  done
}

free_port() {
  port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 20000))
  while ss -Hltn "sport = :$port" | grep -q .; do port=$((port + 1)); done
  echo "$port"
}

# ---- a fleet, a model and samples
make_samples() { # SEED ROWS: two classes that a line separates
  awk -v seed="$1" -v rows="$2" 'BEGIN { srand(seed); print "a,b,c,d,label"
    for (i = 0; i < rows; i++) { y = i % 2; s = y ? 0.6 : -0.6
      printf "%.4f,%.4f,%.4f,%.4f,%d\n", s + rand() - 0.5, -s + rand() - 0.5, rand() - 0.5, s + rand() - 0.5, y } }'
}
make_fleet() {
  aflguard model build --zoo logistic-regression --features 4 --classes 2 -o model >/dev/null
  # 10.0.2.2 is what QEMU's user network calls this machine.
  aflguard fleet init fleet --name orchard --broker-host 10.0.2.2 --broker-port "$(free_port)" --model model >/dev/null
  sed -i 's/^host = .*/host = "localhost"/; s/^learning_rate = .*/learning_rate = 0.01/' fleet/gateway/gateway.toml
  make_samples 1 200 >fleet/gateway/trusted.csv
  aflguard device add pi-1 --fleet fleet >/dev/null
  make_samples 2 200 >fleet/devices/pi-1/samples.csv
  # Training every 5 s; and what is_waiting looks at must not be old.
  sed -i 's|^file = .*|file = "samples.csv"|; s|^# interval_seconds = 0 .*|interval_seconds = 5|; s|^# interval_seconds = 30 .*|interval_seconds = 2|' \
    fleet/devices/pi-1/client.toml
}
start_broker() {
  mosquitto -c fleet/broker/mosquitto.conf >broker.log 2>&1 &
  broker=$!
}
start_gateway() {
  aflguard-gateway --config fleet/gateway/gateway.toml >>gateway.log 2>&1 &
  gateway=$!
}

# ---- what the image holds, without mounting anything
offset_of() { sfdisk --json "$image" | sed -n 's/.*"start": *\([0-9]*\).*/\1/p' | sed -n "$1p"; }
size_of() { sfdisk --json "$image" | sed -n 's/.*"size": *\([0-9]*\).*/\1/p' | sed -n "$1p"; }
# Looked at is a copy, whose journal is replayed first: it hides the newest files from debugfs. The card stays as the
# power cut left it, and the board's own kernel has to cope with that.
copy_root() {
  rm -f root.part
  dd if="$image" of=root.part bs=1M iflag=skip_bytes,count_bytes skip="$((512 * $(offset_of 2)))" \
    count="$((512 * $(size_of 2)))" status=none conv=sparse
  truncate -s "$((512 * $(size_of 2)))" root.part
  e2fsck -fp root.part >e2fsck.log 2>&1 || [ $? -le 1 ] || fail "e2fsck: $(cat e2fsck.log)"
}
in_root() { debugfs -R "cat $1" root.part 2>/dev/null; }
in_boot() { mtype -i "$image@@$((512 * $(offset_of 1)))" "::$1"; }
has_boot_file() { mdir -b -i "$image@@$((512 * $(offset_of 1)))" :: | grep -qx "::/$1"; }
extract() { mcopy -n -i "$image@@$((512 * $(offset_of 1)))" "::$1" "$2"; }

check_file_systems() {
  sfdisk --verify "$image" >verify.log 2>&1 || fail "sfdisk: $(cat verify.log)"
  fdisk -l "$image" >fdisk.log 2>&1 || fail "fdisk: $(cat fdisk.log)"
  grep -q 'W95 FAT32' fdisk.log && grep -q ' 83 Linux' fdisk.log || fail "fdisk: $(cat fdisk.log)"
  dd if="$image" of=boot.part bs=1M skip=4 count=256 status=none conv=sparse
  fsck.vfat -n boot.part >fsck.log 2>&1 || fail "fsck.vfat: $(cat fsck.log)"
  rm -f boot.part
  e2fsck -fn "$image?offset=$((512 * $(offset_of 2)))" >e2fsck.log 2>&1 || fail "e2fsck: $(cat e2fsck.log)"
  copy_root
}
check_contents() {
  for file in start4.elf bootcode.bin config.txt cmdline.txt bcm2711-rpi-4-b.dtb bcm2837-rpi-3-b.dtb \
    bcm2837-rpi-zero-2-w.dtb README.txt aflguard-identity.tar; do
    has_boot_file "$file" || fail "the boot partition has no $file"
  done
  in_boot cmdline.txt | grep -q 'root=LABEL=aflguard-root' || fail "cmdline.txt: $(in_boot cmdline.txt)"
  [ -z "$(in_root /etc/machine-id)" ] || fail "the image has a machine-id"
  [ -z "$(in_root /etc/ssh/ssh_host_ed25519_key)" ] || fail "the image has an ssh host key"
  [ -n "$(in_root /etc/shadow)" ] || fail "the image's files cannot be read"
  in_root /etc/shadow | grep -v '^[^:]*:[*!]' | grep . && fail "someone has a password"
  [ -z "$(in_root /etc/aflguard/device.key)" ] || fail "the image's root has a key"
}

# ---- the board
boot() {
  rm -f monitor.in monitor.out console.log
  mkfifo monitor.in monitor.out
  # The image's own command line; only the serial port has another name on this machine.
  line=$(in_boot cmdline.txt | tr -d '\r\n' | sed 's/console=[^ ]*//g')
  qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 2 -m 1024 -kernel kernel -initrd initrd \
    -append "console=ttyAMA0 systemd.show_status=1 $line" -drive "if=virtio,format=raw,file=$image" \
    -netdev user,id=n -device virtio-net-pci,netdev=n,romfile= -device virtio-rng-pci \
    -display none -serial file:console.log -monitor pipe:monitor -no-reboot >qemu.log 2>&1 &
  board=$!
  begun=$(date +%s)
}
# QEMU has no firmware for it: what config.txt names is loaded by hand. Its clock has no battery, as a Pi's, and no time
# server is in reach here.
boot_pi() {
  rm -f console.log
  qemu-system-aarch64 -M raspi3b -kernel kernel -initrd initrd -dtb pi.dtb \
    -append "$(in_boot cmdline.txt | tr -d '\r\n')" \
    -drive "if=sd,format=raw,file=$image" -netdev user,id=n -device usb-net,netdev=n \
    -display none -serial null -serial file:console.log -monitor none -no-reboot >qemu.log 2>&1 &
  board=$!
  begun=$(date +%s)
}
console_says() { grep -q "$1" console.log 2>/dev/null; }
# The retained status of the board, as JSON.
status() {
  timeout 5 mosquitto_sub -h localhost -p "$port" --cafile fleet/operator/ca.crt --cert fleet/operator/operator.crt \
    --key fleet/operator/operator.key -t 'aflguard/v1/orchard/up/pi-1/status' -C 1 2>/dev/null || true
}
number() { status | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
judged() { # at least $1 verdicts since the client's start
  counts=$(status)
  accepted=$(printf '%s' "$counts" | sed -n 's/.*"accepted":\([0-9]*\).*/\1/p')
  rejected=$(printf '%s' "$counts" | sed -n 's/.*"rejected":\([0-9]*\).*/\1/p')
  [ $((${accepted:-0} + ${rejected:-0})) -ge "$1" ]
}
connected() { case $(status) in *'"state":"lost"'* | *'"state":"disconnected"'* | '') return 1 ;; esac; }
gone() { ! connected; }
is_waiting() { # an update was sent that has no verdict yet
  sleep 3
  first=$(number sequence)
  sleep 10
  [ -n "$first" ] && [ "$first" = "$(number sequence)" ]
}
# Without a gateway nobody tells the board any number: what it says is from its card.
at_waiting() {
  now=$(number sequence)
  case ${now:-0} in
    0) return 1 ;;
    "$waiting") return 0 ;;
  esac
  fail "the board is at update $now, and $waiting was on its card"
}
pull_the_plug() { stop KILL "$board"; board=''; }
shut_down() {
  timeout 60 sh -c 'echo system_powerdown >monitor.in' || fail "the emulator takes no commands"
  left=$patience
  while kill -0 "$board" 2>/dev/null; do
    left=$((left - 2))
    [ "$left" -gt 0 ] || fail "the board does not shut down"
    sleep 2
  done
  wait "$board" || true
  board=''
}

say "a fleet"
rm -rf fleet model board.img
make_fleet
port=$(sed -n 's/^port = //p' fleet/gateway/gateway.toml | head -n 1)

say "the image (the first time, Debian's packages are set up under emulation: many minutes)"
if [ -n "${AFLGUARD_IMAGE:-}" ]; then # one that was made before
  cp --sparse=always "$AFLGUARD_IMAGE" board.img
else
  aflguard image build --fleet fleet --deb "$package" -o board.img --json >image.json || fail "aflguard image build"
fi
aflguard image identity board.img --fleet fleet --device pi-1 >/dev/null || fail "aflguard image identity"
check_file_systems
check_contents
say "fdisk, fsck.vfat and e2fsck are content"
extract "$(in_boot config.txt | tr -d '\r' | sed -n 's/^kernel=//p')" kernel
extract "$(in_boot config.txt | tr -d '\r' | sed -n 's/^initramfs //p')" initrd
extract bcm2837-rpi-3-b.dtb pi.dtb
# The card is larger than the image. QEMU's card readers know powers of two only.
truncate -s 4G board.img

start_broker
start_gateway
say "first boot, and its power is cut while it sets itself up"
boot
wait_for "the board to take its identity" "$patience" console_says 'Starting.*\(aflguard-iden\|Take this AFLG\)'
pull_the_plug

say "the boot after that"
boot
wait_for "the board to connect" "$patience" connected
say "connected $(($(date +%s) - begun)) s after power-on"
wait_for "verdicts" "$patience" judged 2
[ "$(number accepted)" -gt 0 ] || fail "no update of this honest board was accepted: $(status)"
say "verdicts after $(($(date +%s) - begun)) s: $(status)"
stop TERM "$gateway"
gateway=''
wait_for "an update that waits for the gateway" "$patience" is_waiting
waiting=$(number sequence)
say "update $waiting waits for its verdict; the plug is pulled"
pull_the_plug
wait_for "the broker to notice" 300 gone

copy_root
machine=$(in_root /etc/machine-id)
hostkey=$(in_root /etc/ssh/ssh_host_ed25519_key | sha256sum)
key=$(in_root /etc/aflguard/device.key | sha256sum)
[ -n "$machine" ] || fail "the board has made no machine-id"
[ -n "$(in_root /etc/ssh/ssh_host_ed25519_key)" ] || fail "the board has made no ssh host key"
[ "$key" = "$(sha256sum <fleet/devices/pi-1/device.key)" ] || fail "the board has another key than its bundle's"
[ "$(in_root /etc/hostname)" = pi-1 ] || fail "the board is called $(in_root /etc/hostname)"
has_boot_file aflguard-identity.tar && fail "the identity is still on the boot partition"
grep -qaF "$(sed -n 2p fleet/devices/pi-1/device.key)" <<CARD && fail "the key can still be read on the boot partition"
$(dd if="$image" bs=1M skip=4 count=256 status=none | tr -d '\000' | strings -n 40)
CARD
root_bytes=$((512 * $(size_of 2)))
[ $root_bytes -gt 2900000000 ] || fail "the root partition has not grown: $root_bytes bytes"
blocks=$(dumpe2fs -h root.part 2>/dev/null | sed -n 's/^Block count: *//p')
[ "$((blocks * 4096))" -gt 2900000000 ] || fail "the root file system has not grown: $blocks blocks"

[ -n "$(in_root "/var/lib/aflguard/state/$waiting.update" | head -c 1 | od -An -tx1)" ] || fail "update $waiting is not on the card"

say "another boot: nothing may have changed"
boot
wait_for "the board to connect" "$patience" connected
wait_for "update $waiting to be sent again" "$patience" at_waiting
start_gateway
wait_for "the verdict of the waiting update" "$patience" judged 1
wait_for "the next update" "$patience" judged 2
[ "$(number sequence)" -gt "$waiting" ] || fail "the board counts from $(number sequence) again, it was at $waiting"
shut_down
console_says 'Stopped.*\(aflguard-client\|AFLGuard edge\)' || fail "the client did not run as a unit of systemd"
stop TERM "$gateway"
gateway=''
# Every update was judged once, and none is missing.
ledger=$(sqlite3 -separator ' ' fleet/gateway/state/gateway.db 'SELECT count(*), count(DISTINCT sequence), max(sequence) FROM verdicts')
set -- $ledger
[ "$1" = "$2" ] && [ "$2" = "$3" ] || fail "updates judged, different ones, last number: $ledger"
copy_root
[ "$(in_root /etc/machine-id)" = "$machine" ] || fail "the machine-id has changed"
[ "$(in_root /etc/ssh/ssh_host_ed25519_key | sha256sum)" = "$hostkey" ] || fail "the ssh host key has changed"
[ "$(in_root /etc/aflguard/device.key | sha256sum)" = "$key" ] || fail "the board's key has changed"

# What the service manager knows of the time is from 1999, when no certificate here was valid.
last=$3
debugfs -w -R "set_inode_field /var/lib/systemd/timesync/clock mtime 19991231" "$image?offset=$((512 * $(offset_of 2)))" 2>debugfs.log
copy_root
[ "$(debugfs -R 'stat /var/lib/systemd/timesync/clock' root.part 2>/dev/null | grep -c 'mtime.*1999')" = 1 ] ||
  fail "the card's clock could not be set back: $(cat debugfs.log)"
say "the same card in a Raspberry Pi 3, without a battery and without a time server"
start_gateway
boot_pi
wait_for "the Raspberry Pi 3 to connect" "$patience" connected
say "connected $(($(date +%s) - begun)) s after power-on"
wait_for "verdicts" "$patience" judged 2
[ "$(number sequence)" -gt "$last" ] || fail "the board counts from $(number sequence) again, it was at $last"
say "verdicts after $(($(date +%s) - begun)) s: $(status)"
pull_the_plug
say "an image, four file system checks, four boots and two power cuts: as it should be"
