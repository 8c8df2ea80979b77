import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * The canonical text of a JSON value (RFC 8785): no space, members in the order of their UTF-16
 * units.
 *
 * Only plain JSON is accepted. The library drops a member that is undefined, and writes a Map as
 * `{}`: two different values would then have one hash.
 */
export function canonicalJson(value: unknown): string {
  // The library runs first, because it refuses a cycle, in which the check would never end.
  const text = canonicalize(value)
  assertPlainJson(value)
  if (text === undefined) throw new TypeError('the value has no JSON form')
  return text
}

/** Lowercase hexadecimal SHA-256 of the canonical form. */
export const canonicalHash = (value: unknown): string => hash('sha256', canonicalJson(value), 'hex')

function assertPlainJson(value: unknown): void {
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (next === null || isScalar(next)) continue
    if (typeof next !== 'object' || !isPlain(next)) {
      throw new TypeError(`${Object.prototype.toString.call(next)} has no JSON form`)
    }
    // `push(...)` would overflow the stack on a long array; and `of` also visits the holes.
    for (const child of Array.isArray(next) ? next : Object.values(next)) rest.push(child)
  }
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
