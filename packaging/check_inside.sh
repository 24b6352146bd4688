# Runs inside a fresh Debian with a running systemd: what an operator does, on one machine.
set -eu
say() { echo "  $*"; }
die() { echo "FAILED: $*" >&2; exit 1; }
wait_active() { # UNIT
  for _ in $(seq 900); do
    case $(systemctl is-active "$1") in
      active) return 0 ;;
      failed) break ;;
    esac
    sleep 0.2
  done
  systemctl status --no-pager "$1" >&2 || true
  die "$1 is $(systemctl is-active "$1")"
}
as_fleet() { setpriv --reuid aflguard --regid aflguard --clear-groups env HOME=/ "$@"; }
fleet=/var/lib/aflguard/fleet

# No recommended packages: what is needed must be depended on.
apt-get -q install -y --no-install-recommends mosquitto /root/old/*.deb >/root/install.log 2>&1 || { tail -n 20 /root/install.log; die "installing"; }
say "installed with: $(dpkg-query -W -f '${Package} ' 'libssl3*' libsqlite3-0 'libpng16*' 2>/dev/null)"
for program in aflguard aflguard-client aflguard-gateway; do
  $program --version >/dev/null || die "$program does not start"
  ! ldd "$(command -v $program)" | grep 'not found' || die "$program misses libraries"
done
for unit in aflguard-client aflguard-gateway aflguard-broker; do
  systemd-analyze verify --man=no "$unit.service" || die "$unit.service"
  [ "$(systemctl is-enabled $unit)" = enabled ] || die "$unit is not enabled"
  [ "$(systemctl is-active $unit)" = inactive ] || die "$unit runs without configuration"
  exposure=$(systemd-analyze security --no-pager "$unit.service" | sed -n 's/.*exposure level for [^:]*: \([0-9.]*\).*/\1/p')
  say "$unit: exposure $exposure of 10"
  awk "BEGIN { exit !($exposure < 3) }" || die "$unit.service is exposed: $exposure, 3 is allowed"
done
systemd-analyze verify --man=no aflguard-identity.service aflguard-clock.service aflguard-clock.timer || die "the board's units"
[ "$(stat -c '%U %a' /etc/aflguard)" = "aflguard 750" ] || die "/etc/aflguard: $(stat -c '%U %a' /etc/aflguard)"
[ "$(stat -c '%U %a' /var/lib/aflguard)" = "aflguard 700" ] || die "/var/lib/aflguard: $(stat -c '%U %a' /var/lib/aflguard)"

cd /
# Other users may not read root's home.
cp /root/old/aflguard-client_*.deb /srv/aflguard-client.deb
as_fleet aflguard fleet init $fleet --name greenhouse --broker-host localhost >/dev/null
as_fleet aflguard model build --zoo logistic-regression --features 4 --classes 3 -o $fleet/model >/dev/null
awk 'BEGIN { srand(1); for (i = 0; i < 300; ++i) { l = i % 3; printf "%f,%f,%f,%f,%d\n", l + rand(), rand(), 2 - l + rand(), rand(), l } }' >/tmp/samples.csv
install -o aflguard -g aflguard -m 600 /tmp/samples.csv $fleet/gateway/trusted.csv
as_fleet aflguard device add pi-1 --fleet $fleet >/dev/null
install -o aflguard -g aflguard -m 600 /tmp/samples.csv /var/lib/aflguard/data.csv
if [ "$(dpkg --print-architecture)" = arm64 ]; then
  # As on stock Raspberry Pi OS: what `--boot` puts on the boot partition, read and run by cloud-init, stage by stage.
  as_fleet aflguard device bundle pi-1 --fleet $fleet --boot --deb /srv/aflguard-client.deb -o $fleet/boot >/dev/null
  mkdir -p /boot
  mv $fleet/boot /boot/firmware
  apt-get -q install -y --no-install-recommends cloud-init >/root/cloud-init.log 2>&1 || { tail -n 20 /root/cloud-init.log; die "installing cloud-init"; }
  printf 'datasource_list: [NoCloud, None]\ndatasource:\n  NoCloud:\n    seedfrom: file:///boot/firmware/\n' >/etc/cloud/cloud.cfg.d/99_boot-partition.cfg
  note=/boot/firmware/aflguard-identity-problem.txt
  cloud_boot() { # as at each boot, until the set-up that it starts has ended
    rm -rf /run/cloud-init
    # Its codes tell of every module, and a bare Debian has no locales for one of them: what counts is what is done below.
    for stage in "init --local" "init" "modules --mode=config" "modules --mode=final"; do
      # shellcheck disable=SC2086
      cloud-init $stage >>/root/cloud-init.log 2>&1 || true
    done
    for _ in $(seq 900); do
      if [ ! -e /boot/firmware/aflguard-identity.tar ] || [ -e $note ]; then break; fi
      sleep 0.2
    done
    while systemctl -q is-active aflguard-setup; do sleep 0.2; done
  }
  # A first boot that comes to nothing, then another one.
  mv /boot/firmware/aflguard/aflguard-client.deb /srv/kept.deb
  : >/boot/firmware/aflguard/aflguard-client.deb
  cloud_boot
  grep -q 'is damaged; copy it again' $note || { tail -n 40 /root/cloud-init.log; die "a damaged package on the boot partition is not told there"; }
  mv /srv/kept.deb /boot/firmware/aflguard/aflguard-client.deb
  rm $note
  echo '192.0.2.5 gateway.example.org' >>/etc/hosts
  cloud_boot
  [ "$(hostname)" = pi-1 ] || die "cloud-init has named the board $(hostname)"
  grep -q '^192.0.2.5 gateway' /etc/hosts || die "cloud-init has thrown a line of /etc/hosts away"
  [ "$(systemctl is-enabled userconfig.service 2>/dev/null)" = masked ] || die "the wizard that waits for a keyboard is not masked"
  if [ -e /boot/firmware/aflguard-identity.tar ]; then
    tail -n 40 /root/cloud-init.log
    journalctl --no-pager -n 40 -u aflguard-setup
    die "the identity is still on the boot partition: $(cat $note)"
  fi
  [ "$(stat -c '%U %a' /etc/aflguard/device.key)" = "aflguard 600" ] || die "device.key: $(stat -c '%U %a' /etc/aflguard/device.key)"
  say "$(cloud-init --version 2>&1 | sed 's,.*/,,') has run the boot partition's files: client installed, identity taken, at the second boot after a first that failed"
else
  as_fleet aflguard device bundle pi-1 --fleet $fleet -o $fleet/pi-1.tar >/dev/null
  tar -xf $fleet/pi-1.tar -C /etc/aflguard --no-same-owner
  chown -R aflguard:aflguard /etc/aflguard
fi
as_fleet aflguard-client --config /etc/aflguard/client.toml --test-config >/dev/null || die "client --test-config"
as_fleet aflguard-gateway --config $fleet/gateway/gateway.toml --test-config >/dev/null || die "gateway --test-config"

# A board without a battery. Only where the clock is this system's own.
if [ "$(dpkg --print-architecture)" = arm64 ]; then
  ! systemctl -q is-active aflguard-client || systemctl stop aflguard-client
  now=$(date +%s)
  boot_at() { # SECONDS: its clock at the next start of the client
    rm -rf /run/aflguard-clock
    systemctl stop aflguard-clock.timer
    date -s "@$1" >/dev/null
    systemctl start aflguard-clock.service || die "aflguard-clock.service"
  }
  mkdir -p /var/lib/aflguard-clock
  touch -d "@$((now + 600))" /var/lib/aflguard-clock/latest
  boot_at 1000000000
  [ "$(date +%s)" -ge $((now + 600)) ] || die "the clock was put forward to $(date) only, and the board remembers 10 minutes more"
  rm -r /var/lib/aflguard-clock
  begin=$(date +%s -d "$(as_fleet aflguard-client --config /etc/aflguard/client.toml --test-identity --json | sed -n 's/.*"not_before":"\([^"]*\)".*/\1/p')")
  boot_at 1000000000
  [ "$(date +%s)" -ge "$begin" ] || die "without a memory, the clock was put forward to $(date) only"
  boot_at $((now + 30))
  [ $(($(date +%s) - now)) -ge 30 ] && [ $(($(date +%s) - now)) -lt 900 ] || die "a clock that was right was set to $(date)"
  say "a clock that starts in 2001 is put forward"
fi

start_and_look() {
  systemctl start aflguard-broker aflguard-gateway aflguard-client
  for unit in aflguard-broker aflguard-gateway aflguard-client; do wait_active $unit; done
  # One verdict: broker, gateway and client have spoken with each other.
  for _ in $(seq 900); do
    verdicts=$(journalctl -u aflguard-client --no-pager | grep -c 'verdict .*: accepted' || true)
    [ "$verdicts" -eq 0 ] || break
    sleep 0.2
  done
  [ "$verdicts" -gt 0 ] || die "the client got no verdict"
  say "the units run, and the client's updates are accepted"
  as_fleet aflguard doctor --fleet $fleet >/root/doctor.log || { cat /root/doctor.log; die "aflguard doctor is not content"; }
  say "aflguard doctor is content"
}
start_and_look

client_state=$(ls -A /var/lib/aflguard)
echo '# kept' >>/etc/aflguard/gateway.env
gateway_process=$(systemctl show -P MainPID aflguard-gateway)
apt-get -q install -y --no-install-recommends /root/new/*.deb >/root/upgrade.log 2>&1 || { tail -n 20 /root/upgrade.log; die "upgrading"; }
for unit in aflguard-broker aflguard-gateway aflguard-client; do wait_active $unit; done
[ "$(systemctl show -P MainPID aflguard-gateway)" != "$gateway_process" ] || die "the upgrade did not restart the gateway"
[ -f $fleet/gateway/state/gateway.db ] && [ -f /etc/aflguard/device.key ] || die "the upgrade lost state"
grep -q '# kept' /etc/aflguard/gateway.env || die "the upgrade lost a changed configuration"
[ "$(ls -A /var/lib/aflguard)" = "$client_state" ] || die "the upgrade changed the client's state: $(ls -A /var/lib/aflguard)"
say "upgraded: state and configuration kept, services restarted"

apt-get -q remove -y aflguard-client aflguard-gateway aflguard-tools >/root/remove.log 2>&1 || { tail /root/remove.log; die "removing"; }
for unit in aflguard-gateway aflguard-client; do ! systemctl -q is-active $unit || die "$unit runs after removal"; done
[ -f $fleet/gateway/state/gateway.db ] && [ -f /etc/aflguard/client.toml ] && [ -f /etc/aflguard/device.key ] || die "removing lost state"
say "removed: state and configuration kept"

apt-get -q purge -y aflguard-client aflguard-gateway aflguard-tools >/root/purge.log 2>&1 || { tail /root/purge.log; die "purging"; }
[ ! -e /etc/aflguard ] || die "purging left /etc/aflguard: $(ls -A /etc/aflguard)"
[ ! -e $fleet/gateway/state ] && [ ! -e /var/lib/aflguard/data.csv ] || die "purging left state: $(ls -A /var/lib/aflguard)"
[ -f $fleet/ca/ca.key ] || die "purging threw the fleet's authority away"
say "purged: all gone, the fleet's authority kept"
