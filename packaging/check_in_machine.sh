#!/bin/sh
# usage: check_in_machine.sh ROOT KIT WORK: boots the arm64 root file system in ROOT as a virtual machine without a network, with
# the kernel that virtual boards have (KIT), and runs /root/check_inside.sh there under its own service manager. Needs root, who
# owns the files. Under emulation: minutes.
set -eu
root=$1 kit=$2 work=$3
seconds=${AFLGUARD_PATIENCE:-5400}
machine=
trap '[ -z "$machine" ] || kill -9 "$machine" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

# The later of two archives wins: modules and shell are the kit's, the first program is ours.
mkdir "$work/initrd"
cat >"$work/initrd/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done </modules/order
mount -t ext4 /dev/vda /root
umount /proc /sys
mount --move /dev /root/dev
exec switch_root /root /lib/systemd/systemd
INIT
chmod 755 "$work/initrd/init"
cp "$kit/initrd.gz" "$work/initrd.gz"
(cd "$work/initrd" && find . | cpio --quiet -o -H newc -R 0:0) | gzip >>"$work/initrd.gz"

# A machine that has no number yet would ask questions at its first start.
tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
cat >"$root/etc/systemd/system/check-packages.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=simple
Environment=HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/bin/sh -c 'if sh /root/check_inside.sh </dev/null; then echo "check-packages: all is well"; \
  else journalctl --no-pager -n 40 -u "aflguard*"; fi; systemctl poweroff'
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
UNIT
mkdir -p "$root/etc/systemd/system/graphical.target.wants"
ln -s ../check-packages.service "$root/etc/systemd/system/graphical.target.wants/"

/sbin/mke2fs -q -F -t ext4 -d "$root" "$work/disk.img" "$(($(du -sk "$root" | cut -f 1) * 5 / 4 + 1500000))k" >/dev/null
qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 2 -m 1024 -nodefaults -no-reboot -display none -monitor none \
  -serial "file:$work/console.log" -kernel "$kit/vmlinuz" -initrd "$work/initrd.gz" -append "console=ttyAMA0 systemd.getty_auto=0 systemd.show_status=0 panic=-1" \
  -drive "if=none,id=root,format=raw,file=$work/disk.img" -device virtio-blk-device,drive=root </dev/null >"$work/qemu.log" 2>&1 &
machine=$!
while kill -0 "$machine" 2>/dev/null; do
  seconds=$((seconds - 2))
  [ "$seconds" -gt 0 ] || { tail -n 30 "$work/console.log" >&2; echo "check_in_machine: the machine does not end" >&2; exit 1; }
  sleep 2
done
machine=
# What the check says begins with two blanks.
tr -d '\r' <"$work/console.log" | grep '^  [a-z]' || true
tr -d '\r' <"$work/console.log" | grep -qx 'check-packages: all is well' || {
  tail -n 60 "$work/console.log" "$work/qemu.log" >&2
  exit 1
}
