import assert from 'node:assert/strict'
import type { ApiDocument, Operation } from '../../../src/http/api-document.ts'
import type { ApiExample } from '../../../src/http/api-examples.ts'
import { type Answer, type Caller, callerBy } from '../../harness/app.ts'

/** Records requests and their answers as the examples of the API document. */

/**
 * The routes whose operations have no example yet, by the beginning of their path. A new route is not among them:
 * it needs a request in the stories.
 */
const WITHOUT = [
  '/healthz',
  '/readyz',
  // Of deliveries that failed for good, days later.
  '/v1/deliveries',
  // They need a token of a mail.
  '/v1/identity/password/reset',
  '/v1/identity/verify',
  // It draws fifty pictures.
  '/v1/merchant/catalog/demo-seed',
  // It asks a name server.
  '/v1/merchant/domains/{id}/verify',
  // Its hashes are of random ids.
  '/v1/merchant/ledger',
  // It calls the endpoint, which a story does not have.
  '/v1/merchant/webhooks/{id}/test',
  // Tens of kilobytes, which docs/reference/sections.md shows better.
  '/v1/sections',
  // Of a payment without an answer, hours later.
  '/v1/stores/{tenant}/payments/{attempt_id}/resolve',
]

/** Operations that must have an example: those that answer JSON. */
export const listExpected = ({ paths }: ApiDocument): string[] =>
  Object.entries(paths)
    .filter(([path]) => !WITHOUT.some((prefix) => path.startsWith(prefix)))
    .flatMap(([, item]) => Object.values(item))
    .filter(answersJson)
    .flatMap(({ operationId }) => operationId ?? [])
    .toSorted()

const answersJson = ({ responses }: Operation): boolean =>
  Object.entries(responses).some(
    ([status, response]) =>
      Number(status) < 300 &&
      'content' in response &&
      'application/json' in (response.content ?? {}),
  )

/** A member that no route knows. Each write of merchants and operators is sent with it, and names it as ignored. */
const STRANGE = 'zz_no_such_member'

/** The writes that name what they ignore: all of merchants and operators, except those that refuse it. */
export const listNaming = ({ paths }: ApiDocument): ReadonlySet<string> =>
  new Set(
    Object.values(paths)
      .flatMap((item) => Object.entries(item))
      .filter(([method, { 'x-plane': plane = '', requestBody }]) => {
        const isWrite = ['post', 'put', 'patch'].includes(method)
        const isStrict = JSON.stringify(requestBody ?? {}).includes('"additionalProperties":false')
        return isWrite && !isStrict && ['merchant', 'operator'].includes(plane)
      })
      .flatMap(([, { operationId }]) => operationId ?? []),
  )

/** Takes the strange member out of an answer, which must name it and nothing else. */
function takeOutStrange(id: string, method: string, { body, text }: Answer): void {
  assert.deepEqual(body.ignored, [STRANGE], `${id}: ${text.slice(0, 500)}`)
  if (method === 'PATCH') body.ignored = []
  else delete body.ignored
}

interface Described {
  id: string
  method: string
  pattern: RegExp
  /** Of two paths that match, the one with more fixed parts is meant. */
  fixedParts: number
}

const isParameter = (part: string) => /^\{[^}]+\}$/.test(part)

/** A part of a path as a pattern: `{id}.pdf` has a parameter and an end. */
const toPattern = (part: string) => part.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')

function describePaths({ paths }: ApiDocument): Described[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const parts = path.split('/')
    const source = parts.map(toPattern)
    return Object.entries(item).map(([method, { operationId = '' }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${source.join('/')}$`),
      fixedParts: parts.filter((part) => !isParameter(part)).length,
    }))
  })
}

export interface Recorder {
  /** The same caller; the first success of each operation becomes its example. */
  recorded(caller: Caller): Caller
  /** By operation, sorted. */
  examples(): Record<string, ApiExample>
}

export function openRecorder(document: ApiDocument): Recorder {
  const described = describePaths(document)
  const expected = listExpected(document)
  const found = new Map<string, ApiExample>()
  const naming = listNaming(document)
  const idOf = (method: string, path: string) =>
    described
      .filter((each) => each.method === method && each.pattern.test(path))
      .toSorted((a, b) => b.fixedParts - a.fixedParts)[0]?.id
  return {
    recorded: (caller) =>
      callerBy(async (method, url, body, headers) => {
        const id = idOf(method, url.split('?')[0] ?? '')
        const isNamed = id !== undefined && naming.has(id) && (body ?? null) !== null
        const sent = isNamed ? { ...(body as object), [STRANGE]: 1 } : body
        const answer = await caller.send(method, url, sent, headers)
        if (isNamed && answer.status < 300) takeOutStrange(id, method, answer)
        if (answer.status >= 300 || id === undefined || !expected.includes(id)) return answer
        const { status, body: response } = answer
        if (!found.has(id)) {
          found.set(id, stable({ ...(body !== undefined && { request: body }), status, response }))
        }
        return answer
      }),
    examples: () => Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/g
const TRACKING = /SIM\d{15}/g

const REFERENCE = /AP-[0-9A-F]{10}/g
const LINK = /localhost(?::\d+)?\/affiliates\/link\/[\w-]+/g

/** They have a time in them. */
const CURSOR = 'next_after'
const SIGNED: readonly string[] = ['token', 'confirm', 'referral_touch', 'quote_token']

/** Made at random, each in a form of its own. */
const RANDOM: readonly (readonly [form: RegExp, shown: string])[] = [
  [/\b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}\b/g, '7K2M-9QXA-BC3D-EF45'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:8080'],
  [/fdk_\w+/g, 'fdk_0aB1cD2e_a-secret-that-is-shown-once'],
  [/fd-verify-\w+/g, 'fd-verify-0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u'],
  [/READ-[0-9A-Z-]+/g, 'READ-7K2M9QXA'],
  [/whsec_[\w+/=-]+/g, 'whsec_c2VjcmV0LW9mLXRoZS1lbmRwb2ludA'],
]
const RANDOM_MEMBERS: Readonly<Record<string, string>> = {
  auth_code: '123456',
  code_last4: 'EF45',
  hint: 'c8d2',
  public_id: '0aB1cD2e',
}

/** A page of a mail is not shown whole. */
const TEXT_MAX = 300

/** An example that is the same in each run: ids are numbered, and all times are one. */
export function stable(example: ApiExample): ApiExample {
  const ids = new Map<string, string>()
  const numbered = (id: string) => {
    const place = String(ids.size + 1).padStart(12, '0')
    if (!ids.has(id)) ids.set(id, `01987d4e-5a00-7000-8000-${place}`)
    return ids.get(id) ?? ''
  }
  const text = JSON.stringify(example, (name, value: unknown) => {
    if (typeof value !== 'string') return value
    if (name === CURSOR) return 'a-cursor'
    if (SIGNED.includes(name)) return 'a-signed-token'
    if (name in RANDOM_MEMBERS) return RANDOM_MEMBERS[name]
    return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
  })
  const plain = RANDOM.reduce((left, [form, shown]) => left.replace(form, shown), text)
  return JSON.parse(
    plain
      .replace(ID, numbered)
      .replace(TIME, '2026-03-02T09:30:00.000Z')
      .replace(TRACKING, 'SIM000281474976710')
      .replace(REFERENCE, 'AP-0123456789')
      .replace(LINK, 'localhost:8080/affiliates/link/a-signed-token'),
  )
}
