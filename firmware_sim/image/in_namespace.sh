# usage: sh in_namespace.sh COMMAND [ARGUMENT...]
# Runs a command as root of a new user namespace, where programs for arm64 run under emulation. What it
# mounts and registers there is gone when it ends, however it ends; this machine's own settings stay as they are.
set -eu

say() { printf '%s\n' "$*" >&2; }

# Root maps itself and all users; others map the range that /etc/subuid and /etc/subgid give them.
map_ids() { # PID
  if [ "$(id -u)" -eq 0 ]; then
    echo '0 0 65536' >"/proc/$1/uid_map" && echo '0 0 65536' >"/proc/$1/gid_map"
    return
  fi
  name=$(id -un)
  users=$(sed -n "s/^$name:\([0-9]*\):\([0-9]*\)\$/\1 \2/p" /etc/subuid 2>/dev/null | head -n 1)
  groups=$(sed -n "s/^$name:\([0-9]*\):\([0-9]*\)\$/\1 \2/p" /etc/subgid 2>/dev/null | head -n 1)
  if [ -z "$users" ] || [ -z "$groups" ] || ! command -v newuidmap >/dev/null; then
    say "user '$name' may not map user ids: install the package uidmap and run 'usermod --add-subuids 100000-165535" \
      "--add-subgids 100000-165535 $name' as root, or run this as root"
    return 1
  fi
  # shellcheck disable=SC2086  # two words each
  newuidmap "$1" 0 "$(id -u)" 1 1 $users && newgidmap "$1" 0 "$(id -g)" 1 1 $groups
}

talk=$(mktemp -d)
mkfifo "$talk/made" "$talk/mapped"
# setpriv: the command does not outlive this script, and unshare's --kill-child passes that on.
unshare --user sh -c '
  echo made >"$1/made"
  read -r answer <"$1/mapped"
  [ "$answer" = yes ] || exit 1
  shift
  exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc sh -c "
    if ! arch-test arm64 >/dev/null 2>&1; then
      mount -t binfmt_misc private /proc/sys/fs/binfmt_misc 2>/dev/null &&
        cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register 2>/dev/null
      arch-test arm64 >/dev/null 2>&1 || {
        echo \"this machine does not run arm64 programs: install qemu-user-static and binfmt-support, then try again\" >&2
        exit 1
      }
    fi
    exec \"\$@\"" sh "$@"
' sh "$talk" "$@" &
child=$!
trap 'kill -KILL "$child" 2>/dev/null; rm -rf "$talk"; exit 130' INT TERM HUP
if ! timeout 60 cat "$talk/made" >/dev/null; then
  say "this system does not allow user namespaces, which the root file system is made in"
  kill -KILL "$child" 2>/dev/null
  rm -rf "$talk"
  exit 1
fi
if map_ids "$child"; then echo yes >"$talk/mapped"; else echo no >"$talk/mapped"; fi
code=0
wait "$child" || code=$?
rm -rf "$talk"
exit "$code"
