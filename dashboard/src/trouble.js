// Who needs attention, how much and why: the ranking of fleet/view/trouble.cpp, figure by figure, so that page and monitor
// never differ. tests/golden/telemetry/troubles.json holds what both must make of the same messages.

const kSuspectShare = 0.5;
const kWatchShare = 0.2;
/** Before so many verdicts a share says little. */
const kEnoughVerdicts = 4;
/** Updates that a trend is thought ahead. */
const kAhead = 16;
const kHotCelsius = 80;
const kCertificateNoticeMs = 14 * 86400e3;
/** Five intervals of the gateway's metrics, by default. */
const kGatewaySilenceMs = 10e3;
/** Retained metrics come at once, however old they are; clocks of two machines differ a little. */
const kClockDifferenceMs = 60e3;

const kLevels = ['none', 'notice', 'warning', 'alarm'];

/** As printf rounds: halves to the even neighbour. */
function whole(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
function percentText(share) {
  return `${whole(share * 100)} %`;
}
/** Three places at most: "8 s", "12 min", "5 h", "3 d". */
function shortDuration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 100 * 60) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.min(9999, Math.floor(seconds / 86400))} d`;
}

class Trouble {
  constructor() {
    this.level = 'none';
    this.score = 0;
    this.why = '';
    this.suspicious = false;
  }
  /** Keeps the worst as level and reason; every further one moves the device up a little. */
  add(level, score, why) {
    if (score > this.score) {
      this.score = score + this.score / 1000;
      this.why = why;
    } else {
      this.score += score / 1000;
    }
    if (kLevels.indexOf(level) > kLevels.indexOf(this.level)) this.level = level;
  }
}

export function deviceState(device) {
  return device.status?.state ?? device.summary?.state ?? null;
}

export function lastSeen(device) {
  const seen = Math.max(device.summary?.lastSeen ?? 0, device.status?.time ?? 0);
  return seen > 0 ? seen : null;
}

/** By the gateway's count; by the device's own where the gateway says nothing. */
function verdicts({ status, summary }) {
  return { accepted: summary?.accepted ?? status?.accepted ?? null, rejected: summary?.rejected ?? status?.rejected ?? null };
}

/** The running mean, or all of its life where there is none; null when nothing was judged. */
export function rejectedShare(device) {
  if (device.summary?.rejectedShare != null) return device.summary.rejectedShare;
  const { accepted, rejected } = verdicts(device);
  return accepted === null || rejected === null || accepted + rejected === 0 ? null : rejected / (accepted + rejected);
}

/** Of the verdicts since the gateway's start: counts that a restored store brings along raise no suspicion. */
function recentRejectedShare(device) {
  return device.summary ? device.summary.rejectedShare ?? null : rejectedShare(device);
}

function addRejections(trouble, device) {
  const share = recentRejectedShare(device);
  const { accepted, rejected } = verdicts(device);
  if (share === null || (accepted ?? 0) + (rejected ?? 0) < kEnoughVerdicts) return;
  if (share >= kSuspectShare) {
    trouble.suspicious = true;
    trouble.add('alarm', 300 + 100 * share, `${percentText(share)} rejected`);
  } else if (share >= kWatchShare) {
    trouble.add('warning', 100 + 100 * share, `${percentText(share)} rejected`);
  } else {
    trouble.score += share;
  }
}

function addState(trouble, device, nowMs) {
  const state = deviceState(device);
  if (state === 'alert') trouble.add('alarm', 250, device.status?.message || 'needs attention');
  if (state === 'lost') {
    const seen = lastSeen(device);
    trouble.add('warning', 200, seen === null ? 'lost' : `lost; last heard ${shortDuration(nowMs - seen)} ago`);
  }
  if (state === 'disconnected') trouble.add('none', 5, 'stopped by its owner');
}

function addDistance(trouble, { summary }) {
  const ratio = summary?.ratio ?? null;
  if (ratio === null) return;
  const trend = summary.trend ?? 0;
  trouble.score += Math.min(1, Math.max(0, ratio));
  if (ratio > 1) return;  // its updates are rejected, which was said
  if (trend > 0 && ratio > 0.5 && ratio + kAhead * trend > 1) trouble.add('notice', 60, 'moves away from the reference update');
  else if (ratio > 0.9) trouble.add('notice', 50, 'close to the bound');
}

function addBoard(trouble, { status, summary }, nowMs) {
  if (status?.temperature >= kHotCelsius) trouble.add('notice', 40, `${whole(status.temperature)} degrees C`);
  const until = status?.certificateUntil ?? null;
  if (until !== null && until < nowMs) trouble.add('alarm', 220, 'its certificate has ended');
  else if (until !== null && until - nowMs < kCertificateNoticeMs) trouble.add('notice', 45, `its certificate ends in ${shortDuration(until - nowMs)}`);
  const refused = summary?.refused ?? 0;
  if (refused > 0) trouble.add('notice', 30, `${refused.toLocaleString('en-US')} of its messages ${refused === 1 ? 'was' : 'were'} refused`);
}

/** {level: 'none', 'notice', 'warning' or 'alarm', score: larger is worse, why, suspicious}. */
export function troubleOf(device, nowMs) {
  const trouble = new Trouble();
  addRejections(trouble, device);
  addState(trouble, device, nowMs);
  addDistance(trouble, device);
  addBoard(trouble, device, nowMs);
  return trouble;
}

/** What the page calls it: 'suspect', 'alert', 'lost', 'watch', 'off' or 'fine'. */
export function levelWord(device, trouble) {
  const state = deviceState(device);
  if (trouble.suspicious) return 'suspect';
  if (trouble.level === 'alarm') return 'alert';
  if (state === 'lost') return 'lost';
  if (trouble.level !== 'none') return 'watch';
  return state === 'disconnected' || (!device.status && !device.summary) ? 'off' : 'fine';
}
export function troubleLevel(device, nowMs) {
  return levelWord(device, troubleOf(device, nowMs));
}

/** The same of the gateway: `metrics` are as FleetState keeps them, with the time when they came. */
export function gatewayTrouble({ gateway, metrics }, nowMs) {
  const trouble = new Trouble();
  if (gateway === null && metrics === null) trouble.add('warning', 100, 'the gateway was not heard yet');
  else if (gateway?.state === 'alert') trouble.add('alarm', 300, gateway.message || 'needs attention');
  else if (gateway?.state === 'lost') trouble.add('alarm', 250, 'the gateway is lost');
  else if (gateway?.state === 'disconnected') trouble.add('warning', 200, 'the gateway was stopped');
  else {
    const unheard = metrics === null ? 0 : nowMs - metrics.receivedMs;
    const old = metrics?.time == null ? 0 : nowMs - metrics.time;
    const silence = Math.max(unheard > kGatewaySilenceMs ? unheard : 0, old > kClockDifferenceMs ? old : 0);
    if (silence > 0) trouble.add('warning', 150, `silent for ${shortDuration(silence)}`);
    else if (gateway?.message) trouble.add('warning', 120, gateway.message);
  }
  return trouble;
}
