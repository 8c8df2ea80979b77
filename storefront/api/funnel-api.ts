import type { Site } from '../site/site.ts'
import type { PlatformClient } from './platform-client.ts'

export type FunnelType = 'view' | 'search' | 'add_to_cart' | 'begin_checkout'

interface FunnelEvent {
  type: FunnelType
  product_id?: string
}

/** Counts what shoppers do, for the merchant. The storefront sends the counts; they name no shopper. */
export interface FunnelApi {
  /** Counts an event. Never fails and never waits: a page does not depend on a count. */
  countEvent(site: Site, event: FunnelEvent): void
  /** Sends the collected events. */
  flushEvents(): Promise<void>
}

/** Events are sent together: one call for the pages of some seconds. */
const FLUSH_MS = 5_000

/** The most events that one call accepts. */
const BATCH = 100

/** While the platform cannot be reached, more events than this are not counted. */
const WAITING_MAX = 1_000

export function openFunnelApi(client: PlatformClient): FunnelApi {
  const waiting = new Map<string, FunnelEvent[]>()
  let timer: NodeJS.Timeout | null = null

  async function send(tenant: string, events: FunnelEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += BATCH) {
      const body = { events: events.slice(from, from + BATCH) }
      await client.call('POST', `/v1/tenants/${tenant}/funnel`, { body })
    }
  }

  const flushEvents = async () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const batches = [...waiting]
    waiting.clear()
    // A lost count must not fail a page, and is not worth a log line or another request.
    await Promise.allSettled(batches.map(([tenant, events]) => send(tenant, events)))
  }

  return {
    countEvent({ tenant, preview }, event) {
      if (preview !== null) return
      const events = waiting.get(tenant) ?? []
      if (events.length < WAITING_MAX) events.push(event)
      waiting.set(tenant, events)
      timer ??= setTimeout(() => void flushEvents(), FLUSH_MS).unref()
    },
    flushEvents,
  }
}
