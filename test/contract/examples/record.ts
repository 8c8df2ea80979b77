import type { ApiDocument, Operation } from '../../../src/http/api-document.ts'
import type { ApiExample } from '../../../src/http/api-examples.ts'
import { type Caller, callerBy } from '../../harness/app.ts'

/** Records requests and their answers as the examples of the API document. */

/** The routes whose operations have examples, by the beginning of their path. */
const PREFIXES = [
  '/v1/billing',
  '/v1/mails',
  '/v1/merchant/affiliates',
  '/v1/merchant/billing',
  '/v1/merchant/fulfillments',
  '/v1/merchant/inventory',
  '/v1/mail/',
  '/v1/merchant/mails',
  '/v1/merchant/marketing/campaigns',
  '/v1/merchant/marketing/consents',
  '/v1/merchant/marketing/coupons/{id}/report',
  '/v1/merchant/marketing/reminders',
  '/v1/merchant/marketing/segments',
  '/v1/merchant/marketing/suppressions',
  '/v1/merchant/orders/{id}/cancel-remaining',
  '/v1/merchant/orders/{id}/fulfillments',
  '/v1/merchant/purchasing',
  '/v1/merchant/returns',
  '/v1/my/store/mails',
  '/v1/tenants/{tenant}/affiliates',
  '/v1/stores/{tenant}/billing',
  '/v1/tenants/{tenant}/orders/{orderId}/returns',
]

/** Operations that must have an example: those that answer JSON. */
export const listExpected = ({ paths }: ApiDocument): string[] =>
  Object.entries(paths)
    .filter(([path]) => PREFIXES.some((prefix) => path.startsWith(prefix)))
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
  const idOf = (method: string, path: string) =>
    described
      .filter((each) => each.method === method && each.pattern.test(path))
      .toSorted((a, b) => b.fixedParts - a.fixedParts)[0]?.id
  return {
    recorded: (caller) =>
      callerBy(async (method, url, body, headers) => {
        const answer = await caller.send(method, url, body, headers)
        const id = idOf(method, url.split('?')[0] ?? '')
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
const SIGNED: readonly string[] = ['token', 'confirm', 'referral_touch']

/** A page of a mail is not shown whole. */
const TEXT_MAX = 300

/** An example that is the same in each run: ids are numbered, and all times are one. */
function stable(example: ApiExample): ApiExample {
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
    return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
  })
  return JSON.parse(
    text
      .replace(ID, numbered)
      .replace(TIME, '2026-03-02T09:30:00.000Z')
      .replace(TRACKING, 'SIM000281474976710')
      .replace(REFERENCE, 'AP-0123456789')
      .replace(LINK, 'localhost:8080/affiliates/link/a-signed-token'),
  )
}
