// Mosquitto makes the user's name the client's id, so that no other client can push the gateway out; several pages that are open
// at once therefore need several names. Each takes a seat. Pages of one browser agree by its locks; pages of different
// browsers do not know of each other, and a page that loses its seat takes one that is far away.

export const kSeats = 16;
/** Beyond so many losses in a minute there are more pages than seats. */
const kMaxLosses = 6;
const kWindowMs = 60000;

/** The browser's locks: `hold(name)` resolves with a function that lets go, or null when another page holds it. */
export function browserLocks(navigator) {
  if (!navigator.locks) return { hold: async () => () => {} };  // not in every context; then chance decides
  return {
    hold: (name) => new Promise((resolve, reject) => {
      navigator.locks.request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) { resolve(null); return undefined; }
        return new Promise((release) => resolve(release));
      }).catch(reject);
    }),
  };
}

export class Seats {
  /** `first`: where to look first, 0 to kSeats - 1; different in different browsers. */
  constructor(locks, first, random = Math.random) {
    Object.assign(this, { locks, first, random });
    this.losses = [];
    this.release = null;
  }

  /** The user's name for the next attempt: a seat that no other page of this browser has, as long as there is one. */
  async take() {
    if (this.release !== null) return this.user();
    for (let i = 0; i < kSeats; i += 1) {
      this.seat = (this.first + i) % kSeats;
      this.release = await this.locks.hold(`aflguard-seat-${this.seat}`);
      if (this.release !== null) return this.user();
    }
    return this.user();
  }
  user() {
    return `dashboard~${this.seat + 1}`;
  }
  /** Another browser's page took the seat. True when that happens too often: all are taken. */
  lost(nowMs) {
    this.leave();
    this.first = (this.seat + 1 + Math.floor(this.random() * (kSeats - 1))) % kSeats;
    this.losses = this.losses.filter((time) => time > nowMs - kWindowMs);
    this.losses.push(nowMs);
    return this.losses.length > kMaxLosses;
  }
  leave() {
    this.release?.();
    this.release = null;
  }
}
