// How late updates are: one bar per bucket, in plain elements that screen readers can read too.
import { element, setText } from './dom.js';
import { count, percent } from './format.js';

export class DelayHistogram {
  constructor(box) {
    this.box = box;
    this.bars = [];
  }

  show(histogram) {
    this.box.hidden = histogram === null;
    if (histogram === null) return;
    const { bounds, counts } = histogram;
    if (this.bars.length !== counts.length) this.build(bounds, counts.length);
    const total = counts.reduce((sum, value) => sum + value, 0);
    const most = Math.max(1, ...counts);
    counts.forEach((value, i) => {
      const { bar, number, item } = this.bars[i];
      bar.style.height = `${(100 * value) / most}%`;
      setText(number, value === 0 ? '' : percent(value / total));
      item.title = `${count(value)} of ${count(total)} updates: delay ${this.bars[i].name}`;
    });
  }

  build(bounds, size) {
    this.bars = [];
    this.box.replaceChildren();
    for (let i = 0; i < size; i += 1) {
      const name = i === bounds.length ? `>${bounds[i - 1]}` : i === 0 || bounds[i] === bounds[i - 1] + 1 ? `${bounds[i]}` : `≤${bounds[i]}`;
      const bar = element('span.bar');
      const number = element('span.number');
      const item = element('li', element('span.column', number, bar), element('span.name', name));
      this.bars.push({ bar, number, item, name });
      this.box.append(item);
    }
  }
}
