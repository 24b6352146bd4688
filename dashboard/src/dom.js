/** element('p.note', 'text', child, ...): a new element; text never becomes markup. */
export function element(what, ...content) {
  const [tag, ...classes] = what.split('.');
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(' ');
  made.append(...content);
  return made;
}

/** Writes only what differs: the browser lays out nothing for values that stayed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
export function setAttribute(node, name, value) {
  if (value === null) { if (node.hasAttribute(name)) node.removeAttribute(name); }
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** A shape of SVG, which needs its own namespace. */
export function shape(tag, attributes = {}) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
