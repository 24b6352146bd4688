#!/bin/sh
# usage: check_in_root.sh ROOT.tar OLD_DEBS NEW_DEBS KIT: installs, configures, starts, upgrades, removes and purges the
# packages in a throw-away root file system made from ROOT.tar. Needs root. The service manager of that system runs as
# process 1 of new namespaces, and nothing stays. Where the file system is of another architecture, it runs as a
# virtual machine with the kernel of KIT.
set -eu
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d /var/tmp/aflguard-packages.XXXXXX)
init=
group=
finish() {
  code=$?
  [ -z "$init" ] || kill -9 "$init" 2>/dev/null || true
  sleep 0.2
  [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
  rm -rf --one-file-system "$work"
  exit $code
}
trap finish EXIT
trap 'exit 130' INT TERM

root=$work/root
mkdir "$root"
tar -xf "$1" -C "$root"
mkdir "$root/root/old" "$root/root/new"
cp "$2"/*.deb "$root/root/old/"
cp "$3"/*.deb "$root/root/new/"
cp "$here/check_inside.sh" "$root/root/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Debian's installer writes it; a bare root file system has none.
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
# A separate group, so that its service manager finds an empty tree.
for place in /sys/fs/cgroup /sys/fs/cgroup/unified; do
  [ ! -f "$place/cgroup.procs" ] || group=$place/aflguard-packages-$$
done
[ -n "$group" ] || { echo "check_in_root: this machine has no cgroup2" >&2; exit 1; }
mkdir "$group"

# usage: enter.sh ROOT GROUP COMMAND...: mounts and runs it; the caller has given it namespaces.
cat >"$work/enter.sh" <<'ENTER'
set -e
root=$1
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0"; do
  name=${node%% *}
  # shellcheck disable=SC2086
  mknod -m 666 "$root/dev/$name" c ${node#* }
done
shift
exec chroot "$root" /usr/bin/env -i container=aflguard HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  QEMU_CPU=cortex-a72 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
ENTER
spaces="--mount --pid --uts --ipc --fork --kill-child --propagation private"

# With the network: everything that the packages depend on is fetched, as an operator's apt would. Boards are set up by
# cloud-init.
foreign=yes cloud_init=cloud-init
if [ -e "$root/var/lib/dpkg/info/libc6:$(dpkg --print-architecture).list" ]; then foreign='' cloud_init=''; fi
# shellcheck disable=SC2086
sh "$here/with_arm64.sh" unshare $spaces sh "$work/enter.sh" "$root" sh -c 'apt-get -q update && apt-get -q install -y --download-only \
  --no-install-recommends mosquitto "$@" /root/old/*.deb' sh $cloud_init </dev/null >"$work/fetch.log" 2>&1 || { tail -n 20 "$work/fetch.log" >&2; exit 1; }

if [ -n "$foreign" ]; then
  sh "$here/check_in_machine.sh" "$root" "$4" "$work"
  exit 0
fi

# Without the network: its services must not meet this machine's.
cat >"$work/boot.sh" <<'BOOT'
echo $$ >"$1/cgroup.procs"
shift
exec unshare --cgroup sh "$@"
BOOT
# shellcheck disable=SC2086
unshare $spaces --net sh "$work/boot.sh" "$group" "$work/enter.sh" "$root" /lib/systemd/systemd --system </dev/null >"$work/boot.log" 2>&1 &
outer=$!
# The child of unshare is process 1 in there.
for _ in $(seq 600); do
  init=$(tr -d ' ' <"/proc/$outer/task/$outer/children" 2>/dev/null || true)
  [ -z "$init" ] || [ "$(cat "/proc/$init/comm" 2>/dev/null)" != systemd ] || break
  kill -0 "$outer" 2>/dev/null || { cat "$work/boot.log" >&2; exit 1; }
  sleep 0.2
done
inside() {
  nsenter --target "$init" --mount --pid --uts --ipc --net --cgroup chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
for _ in $(seq 600); do
  case $(inside systemctl is-system-running 2>/dev/null || true) in running | degraded) break ;; esac
  sleep 0.2
done
inside sh /root/check_inside.sh </dev/null || {
  inside journalctl --no-pager -n 40 -u 'aflguard*' >&2 || true
  exit 1
}
