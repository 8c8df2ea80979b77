/** Markup that is safe to send. Only `html` and `trusted` make it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[]

/** Markup whose gaps are escaped, in text and in quoted attributes. Nothing is shown for nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0] ?? ''
  for (let i = 0; i < parts.length; i++) text += write(parts[i]) + strings[i + 1]
  return new Html(text)
}

/** Text of our own that is markup already. Never for what came from outside. */
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
 * JSON inside a script element. The element ends at the first `</`, and two line separators of
 * Unicode are no text to older parsers, so these are written as escapes.
 */
export const jsonScript = (value: unknown): Html =>
  trusted(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )

/** Paragraphs of plain text: an empty line parts two of them. */
export const paragraphs = (text: string): Html =>
  html`${text
    .split(/\n\s*\n/)
    .filter((each) => each.trim() !== '')
    .map((each) => html`<p>${each.trim()}</p>`)}`
