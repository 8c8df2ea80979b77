import { type Html, html } from '../kernel/html.ts'
import type { Shape } from './api-document.ts'

const isShape = (value: unknown): value is Shape =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shapesOf = (value: unknown): Shape[] => (Array.isArray(value) ? value.filter(isShape) : [])

/** Renders a description: text between backticks is code, all other text stays as it is. */
export const prose = (text: string): Html[] =>
  text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))

/** Where a shape is used. A request marks its required members, a response its optional ones. */
export type Side = 'request' | 'answer'

/** Renders a shape as a tree: its type, and below it its members. */
export function shapeTree(shape: Shape, side: Side): Html {
  const members = memberItems(shape, side)
  if (members.length > 0) return html`<ul class="tree">${members}</ul>`
  return html`<ul class="tree"><li>${typeLine(shape)}${below(shape, side)}</li></ul>`
}

/** Renders the members of an object, of the rows of a list, or of each of several choices. */
function below(shape: Shape, side: Side): Html | null {
  if (isShape(shape.items)) return below(shape.items, side)
  const members = memberItems(shape, side)
  if (members.length > 0) return html`<ul>${members}</ul>`
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => shapesOf(shape[word]))
  const nested = parts.filter((part) => isShape(part.properties))
  if (nested.length === 0) return null
  return html`<ul>${nested.map((part) => html`<li>${typeLine(part)}${below(part, side)}</li>`)}</ul>`
}

function memberItems({ properties, required }: Shape, side: Side): Html[] {
  if (!isShape(properties)) return []
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties).flatMap(([name, member]) =>
    isShape(member) ? [memberItem(name, member, side, needed.includes(name))] : [],
  )
}

function memberItem(name: string, shape: Shape, side: Side, needed: boolean): Html {
  const required = side === 'request' && needed && html` <span class="need">required</span>`
  const optional = side === 'answer' && !needed && html` <span class="limits">· optional</span>`
  return html`<li><code class="name">${name}</code> ${typeLine(shape)}${required}${optional}${description(shape)}${below(shape, side)}</li>`
}

const description = ({ description: text }: Shape) =>
  typeof text === 'string' ? html`<div class="note">${prose(text)}</div>` : null

/** Renders the type and its limits in one line. */
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
  return html`${types.map((type) => (type === 'string' ? type + format : type)).join(' or ')}`
}

const literal = (value: unknown) => html`<code>${JSON.stringify(value)}</code>`

const joined = (parts: readonly Html[], separator: string) =>
  html`${parts.map((part, i) => (i === 0 ? part : html`${separator}${part}`))}`

function referenceTo(pointer: string): Html {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1)
  return html`<a href="#shape-${name}">${name}</a>`
}

const count = (value: unknown, unit: string) => `${value} ${unit}${value === 1 ? '' : 's'}`

/** The text for each keyword. Keywords that mean nothing to a reader are left out. */
const LIMITS: Record<string, (value: unknown) => string> = {
  minLength: (value) => `at least ${count(value, 'character')}`,
  maxLength: (value) => `at most ${count(value, 'character')}`,
  pattern: (value) => `matches ${value}`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => (value === Number.MAX_SAFE_INTEGER ? '' : `at most ${value}`),
  minItems: (value) => `at least ${count(value, 'item')}`,
  maxItems: (value) => `at most ${count(value, 'item')}`,
  uniqueItems: (value) => (value ? 'no item twice' : ''),
  default: (value) => `default ${JSON.stringify(value)}`,
  additionalProperties: (value) => (value === false ? 'nothing else' : ''),
}

const limitsOf = (shape: Shape): string[] =>
  Object.entries(LIMITS)
    .filter(([word]) => word in shape)
    .map(([word, say]) => say(shape[word]))
    .filter((text) => text !== '')
