import { type Html, html } from './html.ts'
import type { Shape } from './openapi.ts'

const isShape = (value: unknown): value is Shape =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shapesOf = (value: unknown): Shape[] => (Array.isArray(value) ? value.filter(isShape) : [])

/** Text of a description: `code` between backticks, all else as it is. */
export const prose = (text: string): Html[] =>
  text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))

/** A shape as a tree: what it is, and below it what it is made of. */
export function shapeTree(shape: Shape): Html {
  return html`<ul class="tree"><li>${typeLine(shape)}${below(shape)}</li></ul>`
}

/** The members of an object, or of the rows of a list. */
function below(shape: Shape): Html | null {
  const inner = isShape(shape.items) ? shape.items : shape
  if (isShape(inner.items)) return below(inner)
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => shapesOf(inner[word]))
  const nested = parts.filter((part) => isShape(part.properties))
  if (isShape(inner.properties)) return memberList(inner)
  if (nested.length === 0) return null
  return html`<ul>${nested.map((part) => html`<li>${typeLine(part)}${below(part)}</li>`)}</ul>`
}

function memberList({ properties, required }: Shape): Html | null {
  if (!isShape(properties)) return null
  const needed = Array.isArray(required) ? required : []
  const members = Object.entries(properties).filter(([, member]) => isShape(member))
  if (members.length === 0) return null
  return html`<ul>${members.map(([name, member]) =>
    memberItem(name, member as Shape, needed.includes(name)),
  )}</ul>`
}

function memberItem(name: string, shape: Shape, needed: boolean): Html {
  return html`<li><code class="name">${name}</code> ${typeLine(shape)}${
    needed ? html` <span class="need">required</span>` : null
  }${description(shape)}${below(shape)}</li>`
}

const description = ({ description: text }: Shape) =>
  typeof text === 'string' ? html`<div class="note">${prose(text)}</div>` : null

/** The type and its bounds, in a line. */
export function typeLine(shape: Shape): Html {
  const limits = limitsOf(shape)
  return html`<span class="type">${typeOf(shape)}</span>${
    limits.length > 0 ? html` <span class="limits">· ${limits.join(', ')}</span>` : null
  }`
}

function typeOf(shape: Shape): Html {
  if (typeof shape.$ref === 'string') return referenceTo(shape.$ref)
  const choices = [...shapesOf(shape.anyOf), ...shapesOf(shape.oneOf)]
  if (choices.length > 0) return joined(choices.map(typeOf), ' or ')
  const parts = shapesOf(shape.allOf)
  if (parts.length > 0) return joined(parts.map(typeOf), ' with ')
  if (isShape(shape.items)) {
    const orNull = Array.isArray(shape.type) && shape.type.includes('null') ? ' or null' : ''
    return html`list of ${typeOf(shape.items)}${orNull}`
  }
  if (Array.isArray(shape.enum)) return joined(shape.enum.map(literal), ' | ')
  if ('const' in shape) return literal(shape.const)
  const types = Array.isArray(shape.type) ? shape.type : [shape.type ?? 'any value']
  const format = typeof shape.format === 'string' ? ` (${shape.format})` : ''
  return html`${types.join(' or ')}${format}`
}

const literal = (value: unknown) => html`<code>${JSON.stringify(value)}</code>`

const joined = (parts: readonly Html[], separator: string) =>
  html`${parts.map((part, i) => (i === 0 ? part : html`${separator}${part}`))}`

function referenceTo(pointer: string): Html {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1)
  return html`<a href="#shape-${name}">${name}</a>`
}

/** How each keyword reads. Those that say nothing to a reader are left out. */
const LIMITS: Record<string, (value: unknown) => string> = {
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  pattern: (value) => `matches ${value}`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => (value === Number.MAX_SAFE_INTEGER ? '' : `at most ${value}`),
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  uniqueItems: (value) => (value ? 'no item twice' : ''),
  default: (value) => `default ${JSON.stringify(value)}`,
  additionalProperties: (value) => (value === false ? 'nothing else' : ''),
}

const limitsOf = (shape: Shape): string[] =>
  Object.entries(LIMITS)
    .filter(([word]) => word in shape)
    .map(([word, say]) => say(shape[word]))
    .filter((text) => text !== '')
