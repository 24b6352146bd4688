# usage: make_base.sh WORK SUITE SOURCES PACKAGES TARBALL, as root of a namespace that runs arm64 programs
# Debian's packages with all their scripts run, as a tar archive. The list of their versions goes beside it.
# /bin is /usr/bin from the start: the package usrmerge, which would join them later, brings Perl, and would move the
# programs away from under native_tools.sh.
set -eu
umask 022
work=$1 suite=$2 sources=$3 packages=$4 tarball=$5
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# Without a model qemu emulates every extension there is, pointer authentication among them: many times slower.
QEMU_CPU=cortex-a72
export PATH QEMU_CPU TMPDIR="$work" AFLGUARD_WORK="$work" DEBIAN_FRONTEND=noninteractive LC_ALL=C
mmdebstrap --mode=root --architectures=arm64 --variant=minbase --format=tar \
  --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' --dpkgopt=force-unsafe-io \
  --verbose --include="$packages" --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
  --essential-hook='sh "$AFLGUARD_WORK/native_tools.sh" add "$1"' \
  --customize-hook='sh "$AFLGUARD_WORK/native_tools.sh" remove "$1"' \
  --customize-hook='chroot "$1" dpkg-query -W >"$AFLGUARD_MANIFEST"' \
  "$suite" "$tarball" "$sources"
