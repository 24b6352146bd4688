// A fleet's worth of messages as docs/topics.md describes them, without the fleet: for benchmarks of the page.
import mqtt from 'mqtt';

const kRecent = 16;

/** Numbers that look alike in every run. */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export class SimulatedFleet {
  constructor({ fleet, devices, malicious = 0, seed = 1 }) {
    this.random = seeded(seed);
    this.prefix = `aflguard/v1/${fleet}/`;
    this.devices = Array.from({ length: devices }, (_, i) => ({
      name: `pi-${String(i + 1).padStart(4, '0')}`, malicious: i < malicious, accepted: 0, rejected: 0, share: 0, ratio: 0.6, sequence: 0, recent: [],
    }));
    this.fleet = fleet;
    this.started = Date.now();
    this.totals = { accepted: 0, rejected: 0, version: 0 };
    this.sent = 0;
    this.turn = 0;
  }

  async connect(address) {
    this.client = await mqtt.connectAsync(address, { clientId: `simulated-${process.pid}` });
    this.publish('gateway/status', { schema: 'aflguard-gateway-status-1', state: 'ready', fleet: this.fleet, guard: 'aflguard', software: '0.1.0', message: '' });
  }

  publish(tail, json, retain = true) {
    this.sent += 1;
    this.client.publish(this.prefix + tail, JSON.stringify(json), { qos: 0, retain });
  }

  judge(device) {
    const bound = 15 + 5 * this.random();
    const distance = device.malicious ? bound * (8 + 4 * this.random()) : bound * (0.35 + 0.6 * this.random());
    const accepted = distance <= bound;
    device.sequence += 1;
    device[accepted ? 'accepted' : 'rejected'] += 1;
    this.totals[accepted ? 'accepted' : 'rejected'] += 1;
    if (accepted) this.totals.version += 1;
    device.share += ((accepted ? 0 : 1) - device.share) / 16;
    device.ratio += (distance / bound - device.ratio) / 16;
    device.recent.push([Date.now(), Number(distance.toFixed(2)), Number(bound.toFixed(2)), accepted ? 1 : 0]);
    if (device.recent.length > kRecent) device.recent.shift();
    return { accepted, reason: accepted ? 'accepted' : 'too-far', distance, bound, delay: Math.floor(6 * this.random()), version: this.totals.version };
  }

  /** One status and one summary of the next device. */
  step() {
    const device = this.devices[this.turn++ % this.devices.length];
    const time = new Date().toISOString();
    const last = this.judge(device);
    this.publish(`up/${device.name}/status`, {
      schema: 'aflguard-device-status-1', state: 'training', device: device.name, time, version: this.totals.version, sequence: device.sequence, accepted: device.accepted, rejected: device.rejected,
      refused: 0, loss: 0.31, samples: 32, software: '0.1.0', rss_mb: 48.2, temperature_c: 51.5, message: '',
    });
    this.publish(`gateway/devices/${device.name}`, {
      schema: 'aflguard-device-summary-1', device: device.name, time, state: 'training', accepted: device.accepted, rejected: device.rejected, refused: 0, recent_rejected_share: device.share,
      last, recent: device.recent, distance_ratio: device.ratio, distance_trend: (this.random() - 0.5) / 20, last_seen: time,
    });
    if (!last.accepted && this.random() < 0.05) this.publish('events', { schema: 'aflguard-event-1', time, kind: 'rejected', device: device.name, text: `too-far: ${last.distance.toFixed(1)}, bound ${last.bound.toFixed(1)}` }, false);
  }

  metrics() {
    const uptime = (Date.now() - this.started) / 1000;
    const counts = [60, 140, 160, 120, 60, 20, 5, 1, 0, 0].map((share) => Math.round((share * (this.totals.accepted + this.totals.rejected)) / 566));
    this.publish('gateway/metrics', {
      schema: 'aflguard-gateway-metrics-1', time: new Date().toISOString(), uptime_seconds: uptime, fleet: this.fleet, guard: 'aflguard', version: this.totals.version, updates: this.totals.accepted + this.totals.rejected,
      accepted: this.totals.accepted, rejected: this.totals.rejected, rejected_by: { 'too-far': this.totals.rejected }, refused: {}, updates_per_second: (this.totals.accepted + this.totals.rejected) / uptime, mean_delay: 2.4,
      delay_histogram: { bounds: [0, 1, 2, 4, 8, 16, 32, 64, 128], counts }, reference_age: 3, reference_age_seconds: 1.2, test_error: 0.08 + 0.5 / (1 + uptime / 20), devices: this.devices.length, devices_connected: this.devices.length,
      queue: 0, commit_ms: 2.1, store_free_bytes: 40e9, store_total_bytes: 64e9,
    });
  }

  /** Publishes about `perSecond` messages until fallSilent() or stop(). */
  run(perSecond) {
    const tickMs = 10;
    let owed = 0;
    let before = performance.now();
    this.timers = [setInterval(() => {
      const now = performance.now();
      owed = Math.min(perSecond, owed + ((now - before) / 1000) * perSecond);
      before = now;
      for (; owed >= 2; owed -= 2) this.step();
    }, tickMs), setInterval(() => this.metrics(), 2000)];
  }

  fallSilent() {
    for (const timer of this.timers ?? []) clearInterval(timer);
  }

  async stop() {
    this.fallSilent();
    await this.client?.endAsync();
  }
}
