import fc from 'fast-check'
import type { ApiDocument } from '../../src/http/api-document.ts'
import type { Plane, RouteEntry } from '../../src/http/route.ts'
import { anyCharacter } from './any-character.ts'

/** Random requests for fast-check: valid ones by the API's own description, and broken variants. */
export interface Shot {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
  /** The statuses that the description declares. */
  declared: number[]
}

const NAMES = [
  ...['tenant_ref', 'display_name', 'owner_email', 'currency', 'language', 'time_zone'],
  ...['email', 'name', 'status', 'reason', 'label', 'scopes', 'token', 'initial', 'tenant'],
  ...['feature_key', 'note', 'tier', 'ruling', 'operator', 'decision_note', 'limit', 'expires_at'],
]

const GOOD = [
  ...['acme', 'globex', 'draft', 'live', 'suspended', 'USD', 'en', 'UTC', 'Europe/Berlin'],
  ...[
    'a@b.example',
    'read:own_store',
    'advanced_fraud',
    'dedicated_gateway',
    'approved',
    'declined',
  ],
  ...['allow', 'deny', 'basic', 'pro', '2026-01-01', '2026-01-01T00:00:00Z', '2026-13-45', '1e3'],
]

const HARSH = [
  ...['', ' ', '0', '-1', '9007199254740993', 'NaN', 'true', 'null', '__proto__', '%', "'", '"'],
  ...[
    "' or 1=1 --",
    '\\',
    '\u0000',
    '\ud800',
    '\u202e',
    '٣',
    'ﬀ',
    'a'.repeat(5_000),
    '../..',
    '{{}}',
  ],
]

const word = fc.oneof(
  fc.constantFrom(...GOOD),
  fc.constantFrom(...HARSH),
  fc.uuid(),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
)

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 4 }),
  ),
})).any

const json = fc
  .oneof(fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(word, value), { maxKeys: 6 }), value)
  .map((each) => JSON.stringify(each) ?? 'null')

/** The keywords of JSON Schema that our shapes use. */
interface Described {
  type?: string
  enum?: unknown[]
  pattern?: string
  format?: string
  items?: Described
  properties?: Record<string, Described>
  required?: string[]
}

/** Values that are valid by a schema, as far as its keywords are known here. */
function fitting(shape: Described): fc.Arbitrary<unknown> {
  const { type, enum: choices, pattern, format, items = {}, properties, required = [] } = shape
  if (choices !== undefined) return fc.constantFrom(...choices)
  if (format === 'email') return fc.uuid().map((each) => `${each}@example.com`)
  if (format === 'date-time') return fc.constantFrom('2030-01-01T00:00:00Z', '2020-01-01T00:00:00Z')
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  if (type === 'integer' || type === 'number') return fc.integer()
  if (type === 'boolean') return fc.boolean()
  if (type === 'array') return fc.array(fitting(items), { minLength: 1, maxLength: 3 })
  if (properties === undefined) return word
  const members = Object.entries(properties).map(([name, each]) => [name, fitting(each)] as const)
  return fc.record(Object.fromEntries(members), { requiredKeys: required })
}

const PUT_IN = ['', '"', '{', ']', ',', '\\', '\u0000', '\ufeff', '1e999']

/** A text with a character inserted or removed. */
const spoilt = (right: fc.Arbitrary<string>) =>
  fc.tuple(right, fc.nat(), fc.constantFrom(...PUT_IN)).map(([text, at, put]) => {
    const cut = at % (text.length + 1)
    return text.slice(0, cut) + put + text.slice(cut + (put === '' ? 1 : 0))
  })

/** A valid body, any JSON, a broken text of either, or random text. */
function bodiesFor(shape: Described | undefined): fc.Arbitrary<string> {
  const right = shape === undefined ? json : fitting(shape).map((each) => JSON.stringify(each))
  return fc.oneof(
    { weight: 6, arbitrary: right },
    { weight: 3, arbitrary: json },
    { weight: 2, arbitrary: spoilt(right) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 200 }) },
  )
}

/** Text for a path: escaped, or with random escapes. */
const segment = fc.oneof(
  { weight: 6, arbitrary: word.map((each) => encodeURIComponent(each.toWellFormed())) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%00', '%zz', '%', '%ff', '..', '.', '%2f', ';a=b', '*'),
  },
)

const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'limit',
        'offset',
        'q',
        'from',
        'to',
        'status',
        'actor',
        'action',
        'x',
        '%zz',
      ),
      segment,
    ),
    { maxLength: 4 },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']

const extraHeaders = fc.dictionary(
  fc.constantFrom(
    'accept',
    'if-none-match',
    'x-forwarded-for',
    'cookie',
    'x-fd-csrf',
    'range',
    'x',
  ),
  fc.string({ maxLength: 30 }),
  { maxKeys: 3 },
)

const types = [
  ...['application/json', 'application/json', 'application/json', 'application/json'],
  ...['application/json; charset=utf-8', 'text/plain', 'application/json; charset=x', 'a', ''],
]

/** The caller of each plane. */
export type Callers = Record<Plane | 'wrong', Record<string, string>>

type Target = fc.Arbitrary<[RouteEntry, string | undefined]>

const often = (weight: number) => fc.integer({ min: 1, max: weight }).map((n) => n > 1)

export function shotsAt(
  routes: readonly RouteEntry[],
  { paths }: ApiDocument,
  callers: Callers,
): fc.Arbitrary<Shot> {
  const describedAt = (url: string, method: string) =>
    paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase().replace('head', 'get')]
  // Made once for each route: to make the texts of a pattern takes longer than to send one.
  const targets = routes.map((route) => {
    const described = describedAt(route.url, route.method)
    const shape = described?.requestBody?.content['application/json']?.schema
    const body = fc.option(bodiesFor(shape), { nil: undefined, freq: shape === undefined ? 2 : 10 })
    return fc.tuple(fc.constant(route), body)
  })
  const target = fc.nat({ max: targets.length - 1 }).chain((at) => targets[at] as Target)
  const segments = fc.array(segment, { minLength: 4, maxLength: 4 })
  return fc
    .record({
      target,
      segments,
      query,
      extraHeaders,
      type: fc.constantFrom(...types),
      method: fc.constantFrom(...methods),
      isRightMethod: often(8),
      caller: fc.constantFrom(...Object.values(callers)),
      isRightCaller: often(6),
    })
    .map((parts) => {
      const [route, body] = parts.target
      const caller = parts.isRightCaller ? callers[route.plane] : parts.caller
      let next = 0
      const path = route.url.replace(/:\w+/g, () => parts.segments[next++] ?? 'acme')
      const method = parts.isRightMethod ? route.method : parts.method
      const responses = describedAt(route.url, method)?.responses ?? { 200: {} }
      const content = body === undefined ? {} : { 'content-type': parts.type }
      return {
        method,
        path: path + parts.query,
        headers: { ...parts.extraHeaders, ...caller, ...content },
        body,
        declared: Object.keys(responses).map(Number),
      }
    })
}
