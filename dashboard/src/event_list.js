// The latest events, newest first.
import { element } from './dom.js';
import { clock } from './format.js';

const kShown = 80;
const kTone = { rejected: 'bad', refused: 'bad', alert: 'bad', 'store-failing': 'bad', lost: 'warn', muted: 'warn', left: 'warn', joined: 'good', returned: 'good', 'store-works': 'good', started: 'good' };

export class EventList {
  constructor(list, empty, onOpen) {
    Object.assign(this, { list, empty, onOpen });
    this.shown = [];
  }

  draw(events) {
    this.empty.hidden = events.length > 0;
    const known = this.shown[0];
    const fresh = known === undefined ? events.length : events.indexOf(known);
    const added = events.slice(0, fresh < 0 ? kShown : Math.min(fresh, kShown));
    this.list.prepend(...added.map((event) => this.item(event)));
    while (this.list.children.length > Math.min(kShown, events.length)) this.list.lastChild.remove();
    this.shown = events.slice(0, 1);
  }

  item(event) {
    const kind = element('span.kind', event.kind);
    kind.dataset.tone = kTone[event.kind] ?? 'plain';
    const item = element('li', element('time', clock(event.time)), kind);
    if (event.device !== null) {
      const link = element('button.link', event.device);
      link.type = 'button';
      link.addEventListener('click', () => this.onOpen(event.device));
      item.append(link);
    }
    item.append(element('span.words', event.text));
    return item;
  }
}
