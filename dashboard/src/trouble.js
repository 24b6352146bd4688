// Who needs somebody's attention, and how much. The gateway's judgement decides, not the device's own words.

const kSuspectShare = 0.5;
const kWatchShare = 0.2;
const kWatchRatio = 0.9;
/** Before so many verdicts a share says little. */
const kEnoughVerdicts = 4;

/** 'suspect', 'alert', 'lost', 'watch', 'off' or 'fine'. */
export function troubleLevel(device) {
  const { status, summary } = device;
  const state = deviceState(device);
  const judged = (summary?.accepted ?? 0) + (summary?.rejected ?? 0);
  const share = summary?.rejectedShare ?? 0;
  if (share >= kSuspectShare && judged >= kEnoughVerdicts) return 'suspect';
  if (state === 'alert') return 'alert';
  if (state === 'lost') return 'lost';
  if (judged >= kEnoughVerdicts && (share >= kWatchShare || (summary?.ratio ?? 0) >= kWatchRatio)) return 'watch';
  if (state === 'disconnected' || (!status && !summary)) return 'off';
  return 'fine';
}

export function deviceState(device) {
  return device.status?.state ?? device.summary?.state ?? null;
}

const kLevels = ['off', 'fine', 'watch', 'lost', 'alert', 'suspect'];

/** Larger is worse; devices of one level are ordered by their share of rejected updates, then by distance. */
export function troubleScore(device) {
  const share = Math.min(1, device.summary?.rejectedShare ?? 0);
  const ratio = device.summary?.ratio ?? 0;
  return kLevels.indexOf(troubleLevel(device)) * 10 + share * 5 + ratio / (1 + ratio);
}
