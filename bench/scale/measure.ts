import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { SCOPES } from '../../src/kernel/scopes.ts'
import * as credentials from '../../src/modules/credentials/service.ts'
import { SYSTEM } from '../../src/platform/audit.ts'
import { type FilledApp, OPERATOR_TOKEN, STOREFRONT_TOKEN } from './filled-app.ts'
import { countPages } from './pages.ts'
import type { Probe } from './probes.ts'
import { readTarget, type Target } from './targets.ts'

/** A request as it is sent. */
interface Request {
  url: string
  headers: Record<string, string>
}

export interface Answer {
  status: number
  /** The parsed body of a JSON answer, else null. */
  body: unknown
  /** Milliseconds to the answer; to the first rows of an export, which streams for as long as it has orders. */
  ms: number
}

/** What one store's answer costs. */
export interface Cost {
  pages: number
  /** The statement that reads most of them. */
  statement: string
  ms: number
  status: number
  /** Rows of the answer's list, or null where it has none. */
  rows: number | null
}

/** Sends requests to the stores of a filled database, each with the credential of its plane. */
export interface Client {
  requestOf(probe: Pick<Probe, 'plane'>, path: string, tenant: string): Promise<Request>
  targetOf(tenant: string): Promise<Target>
}

export function openClient(filled: FilledApp): Client {
  const keys = new Map<string, Promise<string>>()
  const targets = new Map<string, Promise<Target>>()
  const remember = <T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>) => {
    const known = map.get(key) ?? make()
    map.set(key, known)
    return known
  }
  const issue = async (tenant: string) => {
    const wanted = { label: 'scale', scopes: [...SCOPES] }
    const issuer = { actor: SYSTEM, scopes: SCOPES }
    return (await credentials.issue(filled.runtime.database.tenant(tenant), issuer, wanted))
      .credential.key
  }
  const headersOf = async ({ plane }: Pick<Probe, 'plane'>, tenant: string) => {
    if (plane === 'operator') return { 'x-operator-token': OPERATOR_TOKEN }
    if (plane === 'storefront') return { 'x-storefront-token': STOREFRONT_TOKEN }
    if (plane === 'public') return {}
    return { authorization: `Bearer ${await remember(keys, tenant, () => issue(tenant))}` }
  }
  return {
    requestOf: async (probe, path, tenant) => ({
      url: filled.url + path,
      headers: (await headersOf(probe, tenant)) as Record<string, string>,
    }),
    targetOf: (tenant) => remember(targets, tenant, () => readTarget(filled.admin, tenant)),
  }
}

/** More than the names of the columns of an export: its first rows have to be read, too. */
const HEAD_BYTES = 2_048

export async function send({ url, headers }: Request): Promise<Answer> {
  const began = performance.now()
  const { statusCode, body, headers: got } = await request(url, { headers })
  if (got['content-type']?.includes('json') !== true) {
    let bytes = 0
    for await (const part of body) {
      bytes += part.length
      if (bytes > HEAD_BYTES) break
    }
    return { status: statusCode, body: null, ms: performance.now() - began }
  }
  const text = await body.text()
  const ms = performance.now() - began
  return { status: statusCode, body: text === '' ? null : JSON.parse(text), ms }
}

/** A store that has used up its share of the database waits for its next one. */
const RETRIES = 3
const RETRY_MS = 2_000

async function sendPatiently(sent: Request): Promise<Answer> {
  let answer = await send(sent)
  for (let n = 0; n < RETRIES && answer.status === 503; n++) {
    await sleep(RETRY_MS)
    answer = await send(sent)
  }
  return answer
}

/** How often a request is sent to count its pages; the least counts, without the reads of a first time. */
const PAGE_RUNS = 3
/** How often a request is sent to measure its time, unless it is so slow that fewer say the same. */
const TIME_RUNS = 7
const TIME_BUDGET_MS = 5_000

export interface MeasureOptions {
  /** False: each request is sent for its pages alone. */
  timed?: boolean
}

/**
 * Measures requests that are compared: their pages one after the other, and their times in turn, so that a
 * busy moment of the machine falls on all of them.
 */
export async function measureCosts(
  filled: FilledApp,
  requests: readonly Request[],
  { timed = true }: MeasureOptions = {},
): Promise<Cost[]> {
  const costs: Cost[] = []
  for (const sent of requests) costs.push(await measurePages(filled, sent))
  if (!timed) return costs
  const times = costs.map(({ ms }) => [ms])
  const began = performance.now()
  for (let run = 1; run < TIME_RUNS && performance.now() < began + TIME_BUDGET_MS; run++) {
    for (const [n, sent] of requests.entries()) times[n]?.push((await sendPatiently(sent)).ms)
  }
  return costs.map((cost, n) => ({ ...cost, ms: median(times[n] ?? []) }))
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function measurePages(filled: FilledApp, sent: Request): Promise<Cost> {
  let answer = await sendPatiently(sent)
  let least = { total: Number.POSITIVE_INFINITY, most: { text: '' } }
  for (let run = 0; run < PAGE_RUNS && (run === 0 || answer.ms < TIME_BUDGET_MS); run++) {
    const counted = await countPages(filled.admin, async () => {
      answer = await sendPatiently(sent)
    })
    if (counted.total < least.total) least = counted
  }
  const { status, ms, body } = answer
  return {
    pages: least.total,
    statement: least.most.text,
    ms,
    status,
    rows: countRows(body),
  }
}

/** The rows of the first member that is a list. */
function countRows(body: unknown): number | null {
  if (typeof body !== 'object' || body === null) return null
  const list = Object.values(body).find(Array.isArray)
  return list?.length ?? null
}
