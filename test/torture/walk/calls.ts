import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { STOREFRONT_TOKEN } from '../../harness/app.ts'
import type { Installation } from './installation.ts'
import type { Random } from './random.ts'

/** An answer that came whole. */
export interface Received {
  status: number
  text: string
  code: string | null
  isReplay: boolean
}

/** A request under an idempotency key, and its answer. */
export interface KeyedCall {
  operation: string
  /** By default it is posted. */
  method?: 'PATCH'
  key: string
  tenant: string
  path: string
  credential: Record<string, string>
  body: object
  /** The customer it is about, as far as it names one. */
  customer: string | null
  /** A text that stands in the personal data of this request alone. */
  mark: string | null
  /** The first final answer. */
  first: Received | null
}

/** Refusals of the moment, which leave the key free or its operation running. */
const PASSING = [
  'idempotency_in_progress',
  'order_busy',
  'order_on_hold',
  'rate_limited',
  'unknown_tenant',
  'request_timeout',
]

/** Such refusals of an erasure: it may succeed with another token or at another time. */
const PASSING_OF_ERASURE = ['confirm_invalid', 'erasure_too_broad']

export const asStorefront = { 'x-storefront-token': STOREFRONT_TOKEN }

export interface Calls {
  all: Set<KeyedCall>
  counts: Map<string, number>
  /** The answers that contradict an earlier one. */
  faults: string[]
  /** Sends a call to any server, and again under the same key while there is no final answer. */
  settle(call: KeyedCall, tries?: number): Promise<Received | null>
  /** Sends a request without a key. Returns null when there was no answer. */
  send(unkeyed: Unkeyed): Promise<Received | null>
  close(): Promise<void>
}

interface Unkeyed {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  path: string
  credential: Record<string, string>
  body?: object
}

/** Patience of a caller: most wait for the answer, some hang up before. */
const WAIT_MS = [12_000, 30_000] as const
const IMPATIENT_MS = [30, 2_000] as const
const IMPATIENT_PERCENT = 10

export function openCalls({ servers }: Pick<Installation, 'servers'>, random: Random): Calls {
  const agent = new Agent({ connections: 64, connect: { timeout: 2_000 } })
  const all = new Set<KeyedCall>()
  const faults: string[] = []
  const counts = new Map<string, number>()
  const exchange = async (
    { method, path, credential, body }: Unkeyed,
    headers: Record<string, string>,
    waitMs: number,
  ): Promise<Received | null> => {
    // As behind a load balancer, which notices most of the time that a server is down.
    const up = servers.filter((each) => each.isUp() || random.happens(10))
    const { url } = random.pick(up.length === 0 ? servers : up)
    try {
      const answer = await request(url + path, {
        method,
        dispatcher: agent,
        signal: AbortSignal.timeout(waitMs),
        headers: {
          ...credential,
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await answer.body.text()
      const isReplay = answer.headers['idempotent-replayed'] === 'true'
      return { status: answer.statusCode, text, code: codeOf(text), isReplay }
    } catch {
      return null
    }
  }
  const sendKeyed = async (call: KeyedCall): Promise<Received | null> => {
    const waitMs = random.happens(IMPATIENT_PERCENT)
      ? random.int(...IMPATIENT_MS)
      : random.int(...WAIT_MS)
    const unkeyed = { method: 'POST', ...call } as const
    const received = await exchange(unkeyed, { 'idempotency-key': call.key }, waitMs)
    const outcome =
      received === null ? 'no answer' : `${received.status} ${received.code ?? ''}`.trim()
    const name = `${call.operation}: ${outcome}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (received === null || !isFinal(call, received)) return null
    // A request that can never succeed shows a fault of the walk itself.
    if ([400, 401].includes(received.status))
      throw new Error(`${call.operation} is refused: ${received.text}`)
    const { first } = call
    call.first ??= received
    if (first !== null && !isSame(first, received))
      faults.push(describeChange(call, first, received))
    return received
  }
  return {
    all,
    counts,
    faults,
    send: (unkeyed) => exchange(unkeyed, {}, random.int(...WAIT_MS)),
    async settle(call, tries = 3) {
      all.add(call)
      for (let left = tries; left > 0; left--) {
        // A double click, or a retry that overtakes the first request.
        const twice = random.happens(5) ? sendKeyed(call) : null
        const [received] = await Promise.all([sendKeyed(call), twice])
        if (received !== null) return received
        await delay(random.int(20, 1_500))
      }
      return call.first
    },
    close: () => agent.destroy(),
  }
}

function codeOf(text: string): string | null {
  if (!text.startsWith('{"error"')) return null
  try {
    const { error } = JSON.parse(text)
    return typeof error === 'string' ? error : (error?.code ?? null)
  } catch {
    return null
  }
}

/** Whether the answer is that of the operation, which every replay must repeat. */
export function isFinal({ operation }: KeyedCall, { status, code }: Received): boolean {
  if (status >= 500 || (code !== null && PASSING.includes(code))) return false
  return !(operation === 'privacy_erase' && code !== null && PASSING_OF_ERASURE.includes(code))
}

/** Members that an erasure empties in stored answers. */
const ERASED = [
  'email',
  'customer_name',
  'recipient_email',
  'ip',
  'ship_to',
  'person_id',
  'note',
  'reason',
]

/** Returns an answer without the members that an erasure may have emptied. */
const withoutPerson = (text: string): string =>
  JSON.stringify(JSON.parse(text), (name, value) =>
    ERASED.includes(name) || name === 'customer_ref' ? null : value,
  )

export const isSame = (first: Received, later: Received): boolean =>
  first.status === later.status &&
  (first.text === later.text || withoutPerson(first.text) === withoutPerson(later.text))

export const describeChange = ({ operation, key }: KeyedCall, first: Received, later: Received) =>
  `${operation} ${key} answered ${first.status} ${first.text}\n  and then ${later.status} ${later.text}`
