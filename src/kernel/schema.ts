import { type TSchema, Type } from 'typebox'

/** The building blocks of every shape on the wire. */

export const Id = Type.String({ format: 'uuid' })

/** ISO 8601 in UTC. */
export const Timestamp = Type.String({ format: 'date-time' })

/** Integer cents; the range JavaScript counts exactly. */
export const Cents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const TenantRef = Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$' })

type Plain = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'

/**
 * A value or null. A plain type becomes `type: [t, 'null']`, because the serialiser takes more than
 * twice as long over an `anyOf`. An object must be inline: `{$ref, type: [...]}` writes null as `{}`.
 */
export function Nullable<T extends TSchema>(schema: T) {
  const { type } = schema as unknown as { type?: Plain }
  if (type === undefined || '$id' in schema) return Type.Union([schema, Type.Null()])
  return Type.Unsafe<Type.Static<T> | null>({ ...schema, type: [type, 'null'] })
}

/** Names a shared shape, so that OpenAPI has one component for it. */
export function ref<T extends TSchema>(schema: T) {
  const { $id } = schema as unknown as { $id?: string }
  if ($id === undefined) throw new Error('only a schema with an $id can be referenced')
  return Type.Unsafe<Type.Static<T>>({ $ref: `${$id}#` })
}
