import type { FilledApp } from './filled-app.ts'
import {
  type Client,
  type Cost,
  type MeasureOptions,
  measureCosts,
  openClient,
  send,
} from './measure.ts'
import { listProbes, type Probe } from './probes.ts'

/** The bar of every first page and filter, full size against a hundredth. What misses it, and why: decision 0067. */
export const PAGES_TIMES_MAX = 5
export const MS_TIMES_MAX = 3
/** No answer may take longer at full size, except an export, which streams. */
export const MS_MAX = 1_000

/**
 * Pages that an answer may read at any size, whatever its hundredth reads: an exact count of 10,000 rows
 * reads about so many of an index, and a store of a hundredth has fewer to count.
 */
export const PAGES_FREE = 150

/** Pages of a list over all stores, which has no hundredth: about what 25 rows and a count cost. */
export const GLOBAL_PAGES_MAX = 1_000

/**
 * The most pages of routes that read up to a stated number of rows, each of which costs several pages. A
 * store of a hundredth may not have so many rows, and a store of any size costs no more.
 */
const BOUNDED: Readonly<Record<string, number>> = {
  // Of the orders at one location it counts up to 1,000, each by its units.
  '/v1/merchant/fulfillments/queue': 7_000,
  // It examines up to 200 movements of each of 200 variants.
  '/v1/merchant/purchasing/suggestions': 20_000,
}

/** One line of the report: the same request in two stores. */
export interface Comparison {
  probe: Probe
  full: Cost
  /** The cost in the store of a hundredth; null for a list over all stores. */
  hundredth: Cost | null
  /** The first page in the store of a hundredth, where a filter is held to the same bar as that. */
  unfiltered: Cost | null
}

/** Routes whose filters leave as much to be read as there is without them, with the reason. */
const COUNTS_ALL: Readonly<Record<string, string>> = {
  '/v1/tenants/{tenant}/catalog/search':
    'its facets count everything that has the words, also in other collections than the chosen one',
}

/** Measures every probe, or those of the wanted routes, in its store of full size and in that of a hundredth. */
export async function* compareAll(
  filled: FilledApp,
  options: MeasureOptions = {},
  isWantedX: (route: string) => boolean = () => true,
): AsyncGenerator<Comparison> {
  const client = openClient(filled)
  const firstPages = new Map<string, Cost | null>()
  const compare = async (probe: Probe): Promise<Comparison> => {
    const { full: big, hundredth: small } = probe.pair
    const requests = await Promise.all(
      (probe.global ? [big] : [big, small]).map(async (tenant) =>
        client.requestOf(probe, probe.path(await client.targetOf(tenant)), tenant),
      ),
    )
    const [full, hundredth = null] = await measureCosts(filled, requests, options)
    if (full === undefined) throw new Error('nothing was measured')
    const isFirst = probe.name === 'first page'
    if (isFirst && probe.route in COUNTS_ALL) firstPages.set(probe.route, hundredth)
    return { probe, full, hundredth, unfiltered: firstPages.get(probe.route) ?? null }
  }
  for (const probe of listProbes(filled.document)) {
    if (!isWantedX(probe.route)) continue
    yield await compare(probe)
    if (probe.name !== 'first page') continue
    for (const deep of await listDeepProbes(client, probe)) yield await compare(deep)
  }
}

/** How far into a list a deep page begins. */
const DEEP = 0.9

/**
 * Later pages of a list: by the cursor of its first page, which costs the same everywhere and is held to
 * the bar, and at an offset far into it, which is only reported.
 */
async function listDeepProbes(client: Client, probe: Probe): Promise<Probe[]> {
  const { full, hundredth } = probe.pair
  const tenants = probe.global ? [full] : [full, hundredth]
  const totals = new Map<string, number>()
  const cursors = new Map<string, string>()
  for (const tenant of tenants) {
    const path = probe.path(await client.targetOf(tenant))
    const { body } = await send(await client.requestOf(probe, path, tenant))
    const { total, next_after } = (body ?? {}) as { total?: unknown; next_after?: unknown }
    if (typeof total === 'number') totals.set(tenant, total)
    if (typeof next_after === 'string') cursors.set(tenant, next_after)
  }
  const after = (name: string, judged: boolean, of: (tenant: string) => string): Probe => ({
    ...probe,
    name,
    judged,
    path: (target) => {
      const base = probe.path(target)
      return `${base}${base.includes('?') ? '&' : '?'}${of(target.tenant ?? '')}`
    },
  })
  const offsetOf = (tenant: string) => Math.floor((totals.get(tenant) ?? 0) * DEEP)
  return [
    ...(cursors.size === tenants.length
      ? [after('next page', true, (t) => `after=${encodeURIComponent(cursors.get(t) ?? '')}`)]
      : []),
    ...(totals.size === tenants.length && offsetOf(full) > 0
      ? [after('deep offset', false, (t) => `offset=${offsetOf(t)}`)]
      : []),
  ]
}

/** What is wrong with the pages of a comparison, or null. */
export function findPageFault({ probe, full, hundredth, unfiltered }: Comparison): string | null {
  if (full.status >= 400) return `answers ${full.status}`
  if (hundredth !== null && hundredth.status >= 400) {
    return `answers ${hundredth.status} in the store of a hundredth`
  }
  if (!probe.judged) return null
  const most =
    hundredth === null
      ? GLOBAL_PAGES_MAX
      : PAGES_TIMES_MAX * Math.max(hundredth.pages, unfiltered?.pages ?? 0) + PAGES_FREE
  const allowed = Math.max(most, BOUNDED[probe.route] ?? 0)
  return full.pages > allowed ? `reads ${full.pages} pages, at most ${allowed}` : null
}

/** What is wrong with the time of a comparison, or null. */
export function findTimeFault({ probe, full, hundredth }: Comparison): string | null {
  if (full.ms > MS_MAX) return `takes ${Math.round(full.ms)} ms`
  if (!probe.judged || hundredth === null) return null
  const times = full.ms / hundredth.ms
  return times > MS_TIMES_MAX && full.ms > MS_FREE
    ? `takes ${times.toFixed(1)} times as long`
    : null
}

/** Below this a ratio is noise of the machine. */
const MS_FREE = 20
