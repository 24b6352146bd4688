# usage: make_root.sh WORK BASE IMAGE OFFSET KIBIBYTES LABEL, as root of a namespace that runs arm64 programs
# The board's root file system: Debian's packages (BASE), ours (WORK/packages), the files of WORK/overlay. Writes it
# into IMAGE at OFFSET bytes, and leaves the boot partition's files in WORK/boot.
set -eu
umask 022
work=$1 base=$2 image=$3 offset=$4 size=$5 label=$6
root=$work/root
PATH=/usr/sbin:/usr/bin:/sbin:/bin
QEMU_CPU=cortex-a72
export PATH QEMU_CPU DEBIAN_FRONTEND=noninteractive LC_ALL=C
say() { printf '%s\n' "aflguard-step: $*"; }

say "unpacking the base"
mkdir -p "$root"
tar -C "$root" --numeric-owner --exclude='./dev/*' -xpf "$base"
inside() { chroot "$root" "$@"; }
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"

say "installing packages"
# Nothing is started in here.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 0755 "$root/usr/sbin/policy-rc.d"
mkdir "$root/var/tmp/packages"
cp "$work"/packages/*.deb "$root/var/tmp/packages/"
inside sh -c 'dpkg --install --force-unsafe-io /var/tmp/packages/*.deb'
rm -rf "$root/var/tmp/packages" "$root/usr/sbin/policy-rc.d"

say "configuring"
cp -R --no-preserve=ownership "$work/overlay/." "$root/"
chmod 0440 "$root/etc/sudoers.d/admin"
inside useradd --create-home --shell /bin/bash --groups sudo,systemd-journal --password '*' admin
inside usermod --password '*' root
inside systemctl --quiet enable aflguard-grow-root.service aflguard-ssh-keys.service aflguard-board.service \
  aflguard-identity.service aflguard-client.service systemd-networkd.service systemd-resolved.service \
  systemd-timesyncd.service ssh.service
# wlan0 has its own instance of it.
inside systemctl --quiet disable wpa_supplicant.service
if [ -d "$root/etc/aflguard" ]; then
  inside chown -R aflguard:aflguard /etc/aflguard
  find "$root/etc/aflguard" -type d -exec chmod 0750 {} +
fi
# The clock never starts before the image was made: boards have no battery.
inside install -D -o systemd-timesync -g systemd-timesync -m 0644 /dev/null /var/lib/systemd/timesync/clock
# Debian's own script writes config.txt, cmdline.txt and the kernel for the settings in /etc/default.
inside env DEB_MAINT_PARAMS=configure /etc/kernel/postinst.d/z50-raspi-firmware configure

say "removing what must differ from board to board"
rm -f "$root"/etc/ssh/ssh_host_* "$root/var/lib/dbus/machine-id" "$root/var/lib/systemd/random-seed" \
  "$root/var/lib/systemd/credential.secret"
: >"$root/etc/machine-id"
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb
find "$root/var/log" -type f -delete
inside dpkg-query -W >"$work/manifest"
umount "$root/run" "$root/proc"
umount -l "$root/dev"

mkdir "$work/boot"
cp -R "$root/boot/firmware/." "$work/boot/"
find "$root/boot/firmware" -mindepth 1 -delete

say "writing the file system"
mke2fs -q -F -t ext4 -L "$label" -m 1 -d "$root" -E "offset=$offset,lazy_itable_init=0" "$image" "${size}k"
say "cleaning up"
rm -rf "$root"
