# usage: native_tools.sh add|remove ROOT, inside the namespace that ROOT is made in
# Under emulation, starting a process costs most. Programs that only move text and files around do the same on every
# architecture, so for the time of the set-up this machine's own ones are mounted over the board's. Nothing that
# is copied into the initial file system is among them, nor anything that tells the architecture.
set -eu
action=$1 root=$2
libraries=usr/lib/x86_64-linux-gnu
loader=lib64/ld-linux-x86-64.so.2
[ "$(uname -m)" = x86_64 ] && [ -d "/$libraries" ] && [ -x /usr/bin/kmod ] || exit 0

# mkinitramfs asks about a thousand modules. It finds these before the board's own in /usr/sbin, which it also copies.
module_tools="modinfo modprobe"
text_tools="dash cp mv ln rm mkdir rmdir cat chmod touch sort uniq tr cut head tail basename dirname readlink realpath stat mktemp
  wc ls find xargs sed grep mawk gzip"

if [ "$action" = remove ]; then
  for tool in $module_tools $text_tools; do umount "$root/usr/bin/$tool" 2>/dev/null || true; done
  for tool in $module_tools; do rm -f "$root/usr/bin/$tool"; done
  umount "$root/$libraries"
  rmdir "$root/$libraries"
  rm -f "$root/$loader"
  rmdir "$root/lib64" 2>/dev/null || true
  exit 0
fi
mkdir -p "$root/$libraries" "$root/lib64"
mount --bind "/$libraries" "$root/$libraries"
ln -s "/$libraries/ld-linux-x86-64.so.2" "$root/$loader"
for tool in $module_tools; do
  : >"$root/usr/bin/$tool"
  mount --bind /usr/bin/kmod "$root/usr/bin/$tool"
done
for tool in $text_tools; do
  if [ -f "$root/usr/bin/$tool" ] && [ ! -L "$root/usr/bin/$tool" ] && [ -f "/usr/bin/$tool" ] && [ ! -L "/usr/bin/$tool" ]; then
    mount --bind "/usr/bin/$tool" "$root/usr/bin/$tool"
  fi
done
