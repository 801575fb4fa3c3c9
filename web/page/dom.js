// What every tab needs of the document.

/** An element with content and attributes. */
export function make(tag, content, attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...(Array.isArray(content) ? content : [content]));
  return element;
}
