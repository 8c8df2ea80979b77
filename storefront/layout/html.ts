/** HTML that is safe to send. Only `html` and `trusted` make it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[]

/**
 * Template tag for HTML. Inserted values are escaped, for text and for quoted attributes alike.
 * Null, undefined and false insert nothing. Why no template engine: decision 0017.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0] ?? ''
  for (let i = 0; i < parts.length; i++) text += write(parts[i]) + strings[i + 1]
  return new Html(text)
}

/** Marks a text of ours as HTML. Never for a text that comes from a merchant or a shopper. */
export const trusted = (text: string): Html => new Html(text)

function write(part: Part): string {
  if (typeof part === 'string') return escaped(part)
  if (part instanceof Html) return part.text
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'number') return String(part)
  let text = ''
  for (const each of part) text += write(each)
  return text
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const UNSAFE = /[&<>"'`]/

const escaped = (text: string): string =>
  UNSAFE.test(text) ? text.replace(/[&<>"'`]/g, (each) => ENTITIES[each] ?? '') : text

/**
 * JSON for the inside of a script element. Written with escapes, because the first `</` would end
 * the element, and because older parsers take two of Unicode's line separators for the end of a
 * line.
 */
export const jsonScript = (value: unknown): Html =>
  trusted(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )

/** Plain text as paragraphs. An empty line begins a new one. */
export const paragraphs = (text: string): Html =>
  html`${text
    .split(/\n\s*\n/)
    .filter((each) => each.trim() !== '')
    .map((each) => html`<p>${each.trim()}</p>`)}`
