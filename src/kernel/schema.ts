import { type Static, type TSchema, type TStringOptions, Type } from 'typebox'

/** The building blocks of every shape on the wire. */

export const Id = Type.String({ format: 'uuid' })

/** ISO 8601 in UTC. */
export const Timestamp = Type.String({ format: 'date-time' })

/** Integer cents, within the range that JavaScript represents exactly. */
export const Cents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The largest single amount. With this bound, the sum of many amounts is still exact. */
export const AMOUNT_CENTS_MAX = 100_000_000_000

/** An amount that a request may name: at least one cent. */
export const Amount = Type.Integer({ minimum: 1, maximum: AMOUNT_CENTS_MAX })

const patterns = new Map<string, string>()

/** A text that matches a pattern, and the description of the pattern for people. */
export function Pattern(pattern: string, description: string, bounds: TStringOptions = {}) {
  patterns.set(pattern, description)
  return Type.String({ ...bounds, pattern })
}

/** The description of a pattern, if it has one. */
export const describePattern = (pattern: string): string | undefined => patterns.get(pattern)

const ONE_LINE = '[^\\p{Cc}\\p{Zl}\\p{Zp}]*'

/** A text that a person reads on one line, such as a name. */
export const Line = (maxLength: number, options: TStringOptions = {}) =>
  Pattern(
    `^${ONE_LINE}[^\\s\\p{C}]${ONE_LINE}$`,
    'must be one line with at least one visible character and no control characters',
    { ...options, maxLength },
  )

/** A store's slug. It is in the store's addresses and in every row of its data. */
export const TenantRef = Pattern(
  '^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$',
  'must be 3 to 63 lower-case letters, digits or hyphens, with no hyphen at either end',
)

export const Currency = Pattern(
  '^[A-Z]{3}$',
  'must be a currency code of three capital letters, such as USD',
)

/**
 * A store's own name for a customer: any text in any script, stored and compared as it is. Control
 * characters are refused, because lists do not show them and they break logs.
 */
export const CustomerRef = Pattern(
  '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$',
  'must be 1 to 200 characters without control characters',
)

/**
 * An e-mail address that mail can be sent to: ASCII, and the part before the @ no longer than SMTP
 * accepts.
 */
export const Email = Pattern('^[^@]{1,64}@', 'must be an e-mail address', {
  format: 'email',
  maxLength: 254,
})

const shared: TSchema[] = []

/** A shape with a name: one component in OpenAPI, referenced by `ref`. */
export function Shared<T extends TSchema>(name: string, schema: T): T {
  const named = { ...schema, $id: name }
  shared.push(named)
  return named
}

/** Lists every shared shape of the loaded modules. */
export const sharedShapes = (): readonly TSchema[] => shared

/** A reference to a shared shape. */
export function ref<T extends TSchema>(schema: T) {
  const { $id } = schema as unknown as { $id?: string }
  if ($id === undefined) throw new Error('only a shared shape can be referenced')
  return Type.Unsafe<Static<T>>({ $ref: `${$id}#` })
}

/**
 * A value or null. A plain type becomes `type: [t, 'null']`, because the serializer takes more than
 * twice as long for an `anyOf`. An object must be inline: `{$ref, type: [...]}` writes null as
 * `{}`.
 */
export function Nullable<T extends TSchema>(schema: T) {
  const { type } = schema as unknown as { type?: string }
  if (type === undefined || '$id' in schema) {
    return Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] })
  }
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] })
}

/** An object with any members. No member is ever dropped. */
export const OpenObject = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
})

/** The named segments of a path. They may be any text: a malformed id is simply not found. */
export const Params = <K extends string>(...names: K[]) =>
  Type.Object(
    Object.fromEntries(names.map((name) => [name, Type.String()])) as Record<
      K,
      ReturnType<typeof Type.String>
    >,
  )

/** The members of a page of a list beside its rows. */
export const PAGE_MEMBERS = {
  total: Type.Integer({ description: 'How many rows all pages have together.' }),
  total_is_estimate: Type.Optional(
    Type.Literal(true, {
      description:
        'Present where more rows match than are counted: 10,000, or 1,000 in the pick queue of a ' +
        'location. `total` is then an estimate, of products a lower bound. It is never below the ' +
        'rows up to the end of this page, and one more while there are more.',
    }),
  ),
  limit: Type.Integer(),
  offset: Type.Integer(),
  next_after: Type.Optional(
    Type.String({ description: 'The `after` of the next page. Absent on the last page.' }),
  ),
}

/** A page of rows under the contract's name for these rows. */
export const PageOf = <K extends string, T extends TSchema>(name: K, row: T) =>
  Type.Object({
    ...({ [name]: Type.Array(row) } as Record<K, ReturnType<typeof Type.Array<T>>>),
    ...PAGE_MEMBERS,
  })

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a path segment can be an id at all, so that PostgreSQL is not queried with garbage. */
export const isUuid = (text: string): boolean => UUID.test(text)

const CUSTOMER_REF = new RegExp((CustomerRef as unknown as { pattern: string }).pattern, 'u')

/** Whether a path segment can name a customer at all. Characters count, not UTF-16 units. */
export const isCustomerRef = (text: string): boolean =>
  CUSTOMER_REF.test(text) && text.isWellFormed()

const TENANT_REF = new RegExp((TenantRef as unknown as { pattern: string }).pattern)

/** Whether a path segment can be a store's slug at all. */
export const isTenantRef = (text: string): boolean => TENANT_REF.test(text)
