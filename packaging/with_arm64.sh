#!/bin/sh
# usage: with_arm64.sh COMMAND [ARGUMENT...], as root: runs it where arm64 programs run under QEMU's user mode. Where this machine
# does not know how, it learns it, and forgets it when the command ends.
set -eu
# The default processor emulates every extension there is: many times slower.
QEMU_CPU=cortex-a72
export QEMU_CPU
! arch-test arm64 >/dev/null 2>&1 || exec "$@"
# shellcheck disable=SC2016
exec unshare --mount --propagation private sh -ec '
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
  code=0
  "$@" || code=$?
  echo -1 >/proc/sys/fs/binfmt_misc/qemu-aarch64
  exit $code' sh "$@"
