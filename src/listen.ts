import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { machineNow } from './kernel/clock.ts'
import { signedHeaders, signingKey, writeEnvelope } from './modules/webhooks/envelope.ts'
import type { FeedEvent } from './modules/webhooks/schema.ts'

/**
 * Options of the command `listen`, for developers of webhook receivers: it reads a store's event
 * feed over HTTP and sends each event to a local address, signed like a delivery, so that nothing
 * must be reachable from outside.
 */
export interface ListenOptions {
  /** The address of the platform. */
  api: string
  /** A merchant key with `manage:own_webhooks`. */
  key: string
  forwardTo: string | undefined
  /** The position to start after; without one, only new events. */
  after: number | undefined
  everyMs?: number
  secret?: string
  print?: (line: string) => void
  signal?: AbortSignal
}

const EVERY_MS = 1_000
const PAGE = 100

/** How long a receiver may take to respond: it may stop at a breakpoint. */
const FORWARD_MS = 30_000

/** How long the platform may take to answer. */
const READ_MS = 30_000

const API = 'http://127.0.0.1:8080'

export const USAGE = `fairdock listen [--key fdk_...] [--forward-to URL] [--api URL] [--after N] [--secret whsec_...]

  --key         a merchant key with manage:own_webhooks; default: FAIRDOCK_KEY, which ps does not show
  --forward-to  the URL that each event is sent to, signed; without it events are printed
  --api         the address of the platform; default: ${API}
  --after       the position to start after; without it only new events
  --secret      the signing secret; without it one is created and printed`

/** An error that the user of the command can correct: shown as one sentence, without a stack. */
export class ListenError extends Error {}

const OPTIONS = {
  'forward-to': { type: 'string' },
  key: { type: 'string' },
  api: { type: 'string', default: API },
  after: { type: 'string' },
  secret: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    // Node's message names the option, and then gives advice that does not apply here.
    const [said] = error instanceof Error ? error.message.split(/\.\s/) : []
    throw new ListenError(`${said}; see --help`)
  }
}

const MUST_BE_URL = 'must be a URL that begins with http:// or https://, without a password'

/**
 * Whether a text is a URL that can be called. `localhost:3000` is also a URL, but of a scheme that cannot be called.
 */
function isCallable(text: string): boolean {
  const { protocol = '', username, password } = URL.parse(text) ?? {}
  return ['http:', 'https:'].includes(protocol) && !username && !password
}

/** Reads the options. Returns null where only help was requested, which is then printed. */
export function readListenOptions(
  args: readonly string[],
  keyOfEnvironment?: string,
): ListenOptions | null {
  const values = parse(args)
  if (values.help) {
    printLine(USAGE)
    return null
  }
  const { key = keyOfEnvironment, api, after, secret } = values
  const forwardTo = values['forward-to']
  const faults = [
    ...(key?.startsWith('fdk_') ? [] : ['--key or FAIRDOCK_KEY must be a merchant key, fdk_...']),
    ...(isCallable(api) ? [] : [`--api ${MUST_BE_URL}`]),
    ...(forwardTo === undefined || isCallable(forwardTo) ? [] : [`--forward-to ${MUST_BE_URL}`]),
    ...(after === undefined || /^\d{1,15}$/.test(after) ? [] : ['--after must be a number']),
    ...(secret === undefined || secret.startsWith('whsec_')
      ? []
      : ['--secret must begin with whsec_']),
  ]
  if (faults.length > 0) throw new ListenError(`${faults.join('; ')}; see --help`)
  return {
    api: api.replace(/\/+$/, ''),
    key: key ?? '',
    forwardTo,
    after: after === undefined ? undefined : Number(after),
    ...(secret === undefined ? {} : { secret }),
  }
}

interface FeedPage {
  tenant_ref: string
  events: FeedEvent[]
  sealed_to: number
}

/** Forwards events until the signal fires. When the platform cannot be reached, it tries again. */
export async function listen(options: ListenOptions): Promise<void> {
  const { everyMs = EVERY_MS, signal, print = printLine } = options
  const secret = options.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  print(`signing secret ${secret}`)
  let after = options.after
  let started = false
  let lastFailure = ''
  while (!signal?.aborted) {
    try {
      const page = await readPage(options, after ?? Number.MAX_SAFE_INTEGER)
      // This is printed only now: earlier events are not shown.
      if (!started) print(`listening; the last event so far is ${page.sealed_to}`)
      else if (lastFailure !== '') print('the feed can be read again')
      started = true
      lastFailure = ''
      if (after !== undefined && page.sealed_to < after) {
        // After a restore, for example, the next events have numbers that were used before.
        print(`the feed ends at ${page.sealed_to}, before ${after}: continuing from there`)
      }
      after = Math.min(after ?? page.sealed_to, page.sealed_to)
      for (const event of page.events) {
        const { sequence, type, id } = event
        print(`${sequence} ${type} ${id} ${await forward(options, event, page.tenant_ref, secret)}`)
        after = sequence
      }
      if (page.events.length > 0 && after < page.sealed_to) continue
    } catch (error) {
      if (error instanceof ListenError) throw error
      const failure = `the feed of ${options.api} cannot be read, trying again: ${messageOf(error)}`
      if (failure !== lastFailure && !signal?.aborted) print(failure)
      lastFailure = failure
    }
    await sleep(everyMs, undefined, signal ? { signal } : {}).catch(() => {})
  }
}

/** Returns the message of the underlying error: `fetch` only says that it failed. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  if (!(error instanceof Error)) return 'unknown reason'
  return error.cause === undefined ? error.message : messageOf(error.cause)
}

const printLine = (line: string) => void process.stdout.write(`${line}\n`)

async function readPage({ api, key, signal }: ListenOptions, after: number): Promise<FeedPage> {
  const answer = await fetch(`${api}/v1/merchant/events?after=${after}&limit=${PAGE}`, {
    headers: { authorization: `Bearer ${key}` },
    // After a redirect, the request would be sent without its key.
    redirect: 'manual',
    signal: within(READ_MS, signal),
  })
  const { status } = answer
  if (status === 401) {
    throw new ListenError(
      `${api} refused the key (401): it is wrong, expired or revoked; use another key`,
    )
  }
  if (status === 403)
    throw new ListenError('the key lacks the scope manage:own_webhooks; use a key that has it')
  const location = status >= 300 && status < 400 ? answer.headers.get('location') : null
  if (location !== null) {
    const advice = 'set --api to the platform itself'
    throw new ListenError(`${api} redirects to ${location} (${status}): ${advice}`)
  }
  if (!answer.ok) throw new Error(`the platform answered ${status}`)
  const page = (await answer.json()) as Partial<FeedPage> | null
  if (!Array.isArray(page?.events)) throw new Error('the answer is not a feed; check --api')
  return page as FeedPage
}

/**
 * Escapes control characters: shoppers can send any text, and a terminal would obey some of it. The
 * result is the same JSON.
 */
const printable = (json: string) =>
  json.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Makes a time limit that also ends when the command is stopped. */
const within = (ms: number, signal: AbortSignal | undefined) =>
  AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])])

/**
 * Sends one event, and returns the outcome as text. The event is not retried: a later call with `--after` can do
 * that.
 */
async function forward(
  { forwardTo, signal }: ListenOptions,
  event: FeedEvent,
  tenant: string,
  secret: string,
): Promise<string> {
  if (forwardTo === undefined) return printable(JSON.stringify(event.data))
  const { id, type, created_at } = event
  const head = { id, type, tenant_ref: tenant, created_at }
  const body = writeEnvelope(head, JSON.stringify(event.data))
  const headers = signedHeaders({
    eventId: id,
    eventType: type,
    body,
    keys: [signingKey(secret)],
    timestamp: Math.floor(machineNow() / 1_000),
    attempt: 1,
  })
  try {
    const answer = await fetch(forwardTo, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: within(FORWARD_MS, signal),
    })
    await answer.body?.cancel()
    return `-> ${answer.status}`
  } catch (error) {
    if (signal?.aborted) throw error
    return `-> no answer: ${messageOf(error)}`
  }
}
