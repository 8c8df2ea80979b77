import type { TSchema } from 'typebox'
import { sharedShapes } from '../../src/kernel/schema.ts'
import type { EventFace } from '../../src/modules/face-parts.ts'
import { checkRow } from './check-row.ts'

const closedShapes = new WeakMap<TSchema, TSchema>()

/** Throws unless the data of an event fit its shape, and have no other members. */
export function checkEvent({ type, data: shape }: EventFace, data: unknown): void {
  const closed = closedShapes.get(shape) ?? (closeShape(shape) as TSchema)
  closedShapes.set(shape, closed)
  try {
    checkRow(closed, data)
  } catch (cause) {
    throw new Error(`${type} has other data than its shape: ${JSON.stringify(data)}`, { cause })
  }
}

/** Returns a shape with every reference replaced by what it refers to, whose objects have no other members. */
export function closeShape(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(closeShape)
  if (typeof shape !== 'object' || shape === null) return shape
  const { $ref, type, properties } = shape as { $ref?: string; type?: unknown; properties?: object }
  if ($ref !== undefined) return closeShape(findShared($ref))
  const inner = Object.entries(shape).map(([name, value]) => [name, closeShape(value)])
  const isClosed = [type].flat().includes('object') && properties !== undefined
  return { ...Object.fromEntries(inner), ...(isClosed && { additionalProperties: false }) }
}

function findShared($ref: string): TSchema {
  const found = sharedShapes().find((each) => `${(each as { $id?: string }).$id}#` === $ref)
  if (found === undefined) throw new Error(`no shape has the name ${$ref}`)
  return found
}
