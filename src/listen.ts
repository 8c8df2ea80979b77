import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ConfigError } from './config.ts'
import { signedHeaders, signingKey, writeEnvelope } from './modules/webhooks/envelope.ts'
import type { FeedEvent } from './modules/webhooks/schema.ts'

/**
 * For whoever builds a receiver: reads a store's event feed over HTTP and hands each event on to an
 * address of this machine, signed as a delivery is, so that nothing has to be reachable from outside.
 */
export interface ListenOptions {
  /** Where the platform is. */
  api: string
  /** A merchant key with `manage:own_webhooks`. */
  key: string
  forwardTo: string | undefined
  /** A position; without one only what happens from now on. */
  after: number | undefined
  everyMs?: number
  secret?: string
  print?: (line: string) => void
  signal?: AbortSignal
}

const EVERY_MS = 1_000
const PAGE = 100

/** A receiver under construction may stop at a breakpoint for a while. */
const FORWARD_MS = 30_000

export function readListenOptions(args: readonly string[]): ListenOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'forward-to': { type: 'string' },
      key: { type: 'string' },
      api: { type: 'string', default: 'http://127.0.0.1:8080' },
      after: { type: 'string' },
      secret: { type: 'string' },
    },
  })
  const { key, api, after, secret } = values
  const forwardTo = values['forward-to']
  const faults = [
    ...(key?.startsWith('fdk_') ? [] : ['--key must be a merchant key, fdk_...']),
    ...(URL.canParse(api) ? [] : ['--api must be a URL']),
    ...(forwardTo === undefined || URL.canParse(forwardTo) ? [] : ['--forward-to must be a URL']),
    ...(after === undefined || /^\d{1,15}$/.test(after) ? [] : ['--after must be a number']),
    ...(secret === undefined || secret.startsWith('whsec_') ? [] : ['--secret must be whsec_...']),
  ]
  if (faults.length > 0) throw new ConfigError(faults)
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

/** Runs until its signal fires. A platform that cannot be reached is asked again. */
export async function listen(options: ListenOptions): Promise<void> {
  const { everyMs = EVERY_MS, signal, print = printLine } = options
  const secret = options.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  print(`listening; signing secret ${secret}`)
  let after = options.after
  while (!signal?.aborted) {
    try {
      const page = await readPage(options, after ?? Number.MAX_SAFE_INTEGER)
      after ??= page.sealed_to
      for (const event of page.events) {
        print(
          `${event.sequence} ${event.type} ${event.id} ${await forward(options, event, page.tenant_ref, secret)}`,
        )
        after = event.sequence
      }
      if (page.events.length === PAGE) continue
    } catch (error) {
      if (error instanceof ConfigError) throw error
      print(`the feed could not be read: ${error instanceof Error ? error.message : 'unknown'}`)
    }
    await sleep(everyMs, undefined, signal ? { signal } : {}).catch(() => {})
  }
}

const printLine = (line: string) => void process.stdout.write(`${line}\n`)

const readPage = (options: ListenOptions, after: number) =>
  readJson<FeedPage>(options, `/v1/merchant/events?after=${after}&limit=${PAGE}`)

async function readJson<T>({ api, key }: ListenOptions, path: string): Promise<T> {
  const answer = await fetch(api + path, { headers: { authorization: `Bearer ${key}` } })
  if (answer.status === 401 || answer.status === 403) {
    throw new ConfigError([
      `the key was refused with ${answer.status}; it needs manage:own_webhooks`,
    ])
  }
  if (!answer.ok) throw new Error(`the platform answered ${answer.status}`)
  return (await answer.json()) as T
}

/** What came of it, in a word. Nothing is tried again: the next `--after` does that. */
async function forward(
  { forwardTo }: ListenOptions,
  event: FeedEvent,
  tenant: string,
  secret: string,
): Promise<string> {
  if (forwardTo === undefined) return JSON.stringify(event.data)
  const { id, type, created_at } = event
  const head = { id, type, tenant_ref: tenant, created_at }
  const body = writeEnvelope(head, JSON.stringify(event.data))
  const headers = signedHeaders({
    eventId: id,
    eventType: type,
    body,
    keys: [signingKey(secret)],
    timestamp: Math.floor(Date.now() / 1_000),
    attempt: 1,
  })
  try {
    const answer = await fetch(forwardTo, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_MS),
    })
    await answer.body?.cancel()
    return `-> ${answer.status}`
  } catch {
    return '-> no answer'
  }
}
