import { findNear } from '../kernel/near-names.ts'
import { resolveShape, type Shape } from './known-members.ts'

/** A member of a body that its route does not know. */
export interface UnknownMember {
  path: readonly string[]
  /** The known member of the same object that it was most likely meant to be. */
  near: string | null
}

/** How many different unknown names are compared with the known ones: no person misspells more of them. */
const COMPARED_MAX = 1_000

/**
 * Finds the members that a shape does not name, at every depth. Objects that may have any member are left alone, and
 * so are values of which several shapes are possible.
 */
export function* findUnknown(shape: Shape, value: unknown): Generator<UnknownMember> {
  yield* search({ shape, value, path: [] }, nearOnce())
}

interface Place {
  shape: Shape
  value: unknown
  path: readonly string[]
}

type Near = (name: string, properties: object) => string | null

/** Finds near names, each once: rows of a list repeat the same names. */
function nearOnce(): Near {
  const found = new Map<object, Map<string, string | null>>()
  let compared = 0
  return (name, properties) => {
    const names = found.get(properties) ?? new Map<string, string | null>()
    found.set(properties, names)
    const known = names.get(name)
    if (known !== undefined || compared >= COMPARED_MAX) return known ?? null
    compared += 1
    const near = findNear(name, Object.keys(properties))
    names.set(name, near)
    return near
  }
}

function* search({ shape, value, path }: Place, near: Near): Generator<UnknownMember> {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return
  const { items, properties, additionalProperties, patternProperties } = resolveShape(shape)
  if (Array.isArray(value)) {
    if (items === undefined) return
    for (const [at, each] of value.entries()) {
      yield* search({ shape: items, value: each, path: [...path, String(at)] }, near)
    }
    return
  }
  if (properties === undefined) return
  const isOpen = Boolean(additionalProperties) || patternProperties !== undefined
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    const inside = [...path, name]
    if (known !== undefined) yield* search({ shape: known, value: member, path: inside }, near)
    else if (!isOpen) yield { path: inside, near: near(name, properties) }
  }
}
