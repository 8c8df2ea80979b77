import { isUtf8 } from 'node:buffer'
import { refuse } from '../errors.ts'
import { damaged } from './parsed-image.ts'
import {
  ATTRIBUTES,
  CLIPPING_ATTRIBUTES,
  CLIPPING_ELEMENTS,
  ELEMENTS,
  GRADIENTS,
  INDISPENSABLE,
  isHarmless,
  isLocalLink,
  TEXT_ELEMENTS,
} from './svg-rules.ts'
import { readSvgTokens } from './svg-tokens.ts'

/** The most bytes of an SVG. A larger one is a photo rather than a drawing. */
const SVG_BYTES_MAX = 1_024 * 1_024

export interface CleanSvg {
  clean: Buffer
  width: number | null
  height: number | null
}

/**
 * Rewrites an SVG from the allowed elements and attributes of svg-rules.ts. Nothing of the original
 * text is copied: every name comes from those lists, and every value is checked and escaped (decision 0014).
 */
export function cleanSvg(bytes: Buffer): CleanSvg {
  if (bytes.length > SVG_BYTES_MAX)
    throw refuse('asset_too_large', {
      message: 'The SVG is larger than 1 MiB. Upload a smaller one.',
    })
  if (!isUtf8(bytes)) throw damaged()
  const out: string[] = []
  /** The open elements; null for one that is left out with its content. */
  const open: (string | null)[] = []
  let size: Pick<CleanSvg, 'width' | 'height'> | null = null
  for (const token of readSvgTokens(bytes.toString('utf8').replace(/^\ufeff/, ''))) {
    const parent = open.at(-1)
    if (token.kind === 'text') {
      if (parent != null && TEXT_ELEMENTS.has(parent)) out.push(escapeXml(token.text))
    } else if (token.kind === 'close') {
      if (open.pop() != null) out.push(`</${token.name}>`)
    } else {
      const { name } = token
      if (open.length === 0 && (size !== null || name !== 'svg')) throw damaged()
      if (INDISPENSABLE.has(name)) throw unusable(name)
      const kept = parent === null || !ELEMENTS.has(name) ? null : name
      const attributes = kept === null ? new Map() : allowedAttributes(name, token.attributes, open)
      size ??= sizeOf(attributes)
      open.push(kept)
      if (kept !== null) out.push(startTag(name, attributes, open.length === 1))
    }
  }
  if (size === null) throw damaged()
  return { clean: Buffer.from(out.join('')), ...size }
}

const unusable = (name: string) =>
  refuse('image_invalid', {
    message: `An SVG must not contain <${name}>. Export it with presentation attributes and plain shapes.`,
  })

function startTag(name: string, attributes: Map<string, string>, isRoot: boolean): string {
  const written = [...attributes].map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join('')
  return `<${name}${isRoot ? ' xmlns="http://www.w3.org/2000/svg"' : ''}${written}>`
}

function allowedAttributes(
  element: string,
  given: ReadonlyMap<string, string>,
  open: readonly (string | null)[],
): Map<string, string> {
  const isInClip = open.some((each) => each !== null && CLIPPING_ELEMENTS.has(each))
  const kept = new Map<string, string>()
  const keep = (name: string, text: string) => {
    const value = text.trim()
    if (!ATTRIBUTES.has(name) || (isInClip && CLIPPING_ATTRIBUTES.has(name)) || !isHarmless(value))
      return
    kept.set(name, value)
  }
  for (const [name, value] of given) keep(name, value)
  // A declaration in `style` means the same as the attribute of that name, and overrides it.
  for (const declaration of (given.get('style') ?? '').split(';')) {
    const colon = declaration.indexOf(':')
    if (colon > 0) keep(declaration.slice(0, colon).trim(), declaration.slice(colon + 1))
  }
  const link = given.get('href') ?? given.get('xlink:href')
  if (link !== undefined && GRADIENTS.has(element) && isLocalLink(link)) kept.set('href', link)
  return kept
}

/** The size in pixels, from width and height or from the viewBox. */
function sizeOf(attributes: ReadonlyMap<string, string>) {
  const box = (attributes.get('viewBox') ?? '').split(/[\s,]+/)
  return {
    width: pixelsOf(attributes.get('width')) ?? pixelsOf(box[2]),
    height: pixelsOf(attributes.get('height')) ?? pixelsOf(box[3]),
  }
}

const LENGTH_MAX = 1_000_000

function pixelsOf(length: string | undefined): number | null {
  const number = Number(/^(\d{1,9}(?:\.\d{1,20})?)(?:px)?$/.exec(length ?? '')?.[1])
  return number > 0 && number <= LENGTH_MAX ? Math.max(1, Math.round(number)) : null
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
