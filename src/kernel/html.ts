/** Markup that is safe to send. Only `html` and `trustedHtml` create it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

/**
 * Builds markup. Its gaps are escaped, in text and in quoted attributes; null, undefined and false
 * show nothing.
 */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.reduce((text, next, i) => text + write(parts[i - 1]) + next))

/** Marks our own text as markup or style. Never use it for text from outside. */
export const trustedHtml = (text: string): Html => new Html(text)

function write(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  return Array.isArray(part) ? part.map(write).join('') : escaped(String(part))
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const escaped = (text: string) =>
  text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '')
