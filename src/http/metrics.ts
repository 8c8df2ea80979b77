import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { QueueFacts } from '../db/queue-facts.ts'
import type { FailureKind } from '../errors.ts'
import { machineNow } from '../kernel/clock.ts'
import type { ServedRequest } from './access-log.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

export interface Metrics {
  observe(answered: ServedRequest): void
  /**
   * Counts a response from the live cache. It is added to its counter when the metrics are read.
   */
  countLive(route: string, status: number): void
  countFailure(kind: FailureKind): void
  /** Counts the journals that a step has verified, and shows how many stores have a fault. */
  countLedger(figures: { verified: number; faulty: number }): void
  /** Counts a step of a background loop, and notes the time of the last one that succeeded. */
  countStep(loop: string, succeeded: boolean): void
  /** Counts a response of the storefront by the kind of its page. */
  countPage(page: ServedPage): void
  /** Reads how much work waits over all stores whenever the metrics are read, at most every ten seconds. */
  watchQueues(read: () => Promise<QueueFacts>): void
  /**
   * Sets the function that tells a TLS front whether it may get a certificate for a hostname. Until it is set, every
   * hostname is refused.
   */
  answerCertificates(ask: (hostname: string) => Promise<number>): void
  /**
   * Serves the metrics on a port of its own, so that they cannot be read through a store's host.
   */
  serve(host: string, port: number): Promise<Server>
}

/** A page that was shown to a shopper, or another response of the storefront. */
export interface ServedPage {
  page: string
  status: number
  seconds: number
}

/** How long figures about queues are shown again: several programs may scrape, and each scrape would count the rows. */
const QUEUES_FOR_MS = 10_000

/** Opens the metrics of a process. The default ones cover memory, event loop and handles. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'failures_total',
    help: '503 answers, by the kind of failure: bug, outage, upstream or overload.',
    labelNames: ['kind'],
    registers: [registry],
  })
  // A process without a database, such as a storefront alone, knows no hostname.
  const asked = { ask: async (_hostname: string) => 404 }
  return {
    countLedger: countLedger(registry),
    observe: ({ seconds, ...labels }) => durations.observe(labels, seconds),
    countLive: countLive(registry),
    countStep: countStep(registry),
    countPage: countPage(registry),
    watchQueues: watchQueues(registry),
    countFailure: (kind) => failures.inc({ kind }),
    answerCertificates: (ask) => {
      asked.ask = ask
    },
    serve: (host, port) => serve(registry, asked, { host, port }),
  }
}

function countLedger(registry: Registry) {
  const journals = new Counter({
    name: 'ledger_verified_journals_total',
    help: 'Journals that the loop has verified, new and old ones.',
    registers: [registry],
  })
  const stores = new Gauge({
    name: 'ledger_faulty_stores',
    help: 'Stores whose ledger does not verify.',
    registers: [registry],
  })
  return ({ verified, faulty }: { verified: number; faulty: number }) => {
    journals.inc(verified)
    stores.set(faulty)
  }
}

function countStep(registry: Registry) {
  const labelNames = ['loop'] as const
  const registers = [registry]
  const successes = new Gauge({
    name: 'loop_last_success_timestamp_seconds',
    help: 'When a step of the loop last succeeded, in seconds since 1970.',
    labelNames,
    registers,
  })
  const failures = new Counter({
    name: 'loop_failures_total',
    help: 'Steps of the loop that failed.',
    labelNames,
    registers,
  })
  return (loop: string, succeeded: boolean) => {
    if (succeeded) successes.set({ loop }, machineNow() / 1_000)
    // Increased by 0 from the first step on, so that the first failure is visible as an increase.
    failures.inc({ loop }, succeeded ? 0 : 1)
  }
}

function countPage(registry: Registry) {
  const durations = new Histogram({
    name: 'storefront_page_duration_seconds',
    help: 'Responses of the storefront by kind of page and status.',
    labelNames: ['page', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  return ({ seconds, ...labels }: ServedPage) => durations.observe(labels, seconds)
}

/**
 * Shows the figures of the queues. Figures that cannot be read are left out, and `queue_figures_up` is 0: an old
 * figure would mislead. Each gauge waits for the same read, since a registry asks all of them at once.
 */
function watchQueues(registry: Registry) {
  return (read: () => Promise<QueueFacts>) => {
    let readAt = Number.NEGATIVE_INFINITY
    let current: Promise<void> = Promise.resolve()
    const collect = () => {
      if (performance.now() - readAt >= QUEUES_FOR_MS) {
        readAt = performance.now()
        current = read().then(show, () => show(null))
      }
      return current
    }
    const gauge = (name: string, help: string, label?: string) =>
      new Gauge({ name, help, labelNames: label ? [label] : [], registers: [registry], collect })
    const depth = gauge('queue_depth', 'Rows that wait in the queue, over all stores.', 'queue')
    const oldest = gauge('queue_oldest_due_seconds', 'How long its oldest row is due.', 'queue')
    const dead = gauge('dead_letters', 'What is no longer tried, over all stores.', 'kind')
    const unsettled = gauge('unsettled_payments', 'Payments without an answer for two hours.')
    const age = gauge('unsettled_payments_oldest_seconds', 'The age of the oldest of them.')
    const up = gauge('queue_figures_up', 'Whether the figures over all stores could be read.')
    function show(facts: QueueFacts | null) {
      for (const each of [depth, oldest, dead]) each.reset()
      for (const each of [unsettled, age]) each.remove()
      up.set(facts === null ? 0 : 1)
      if (facts === null) return
      for (const { kind, count, oldest_seconds } of facts.queues) {
        depth.set({ queue: kind }, count)
        oldest.set({ queue: kind }, oldest_seconds)
      }
      for (const { kind, count } of facts.deadLetters) dead.set({ kind }, count)
      unsettled.set(facts.unsettled.count)
      age.set(facts.unsettled.oldest_seconds)
    }
  }
}

/** Counts responses in a plain map: a labelled counter takes ten times as long as the response it counts. */
function countLive(registry: Registry) {
  const pending = new Map<string, Map<number, number>>()
  new Counter({
    name: 'live_answers_total',
    help: 'Answers from the live cache, by route and status.',
    labelNames: ['route', 'status'],
    registers: [registry],
    collect() {
      for (const [route, statuses] of pending) {
        for (const [status, count] of statuses) this.inc({ route, status }, count)
      }
      pending.clear()
    },
  })
  return (route: string, status: number) => {
    const statuses = pending.get(route) ?? new Map<number, number>()
    if (statuses.size === 0) pending.set(route, statuses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
}

type Ask = (hostname: string) => Promise<number>

async function serve(registry: Registry, asked: { ask: Ask }, at: ServedAt): Promise<Server> {
  const server = createServer(async (request, response) => {
    const url = URL.parse(request.url ?? '', 'http://localhost')
    if (request.method === 'GET' && url?.pathname === '/tls/ask') {
      const status = await asked.ask(url.searchParams.get('domain') ?? '')
      return response.writeHead(status, SAFE_HEADERS).end()
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      return response.writeHead(404, SAFE_HEADERS).end()
    }
    response.writeHead(200, { 'content-type': registry.contentType, ...SAFE_HEADERS })
    return response.end(await registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(at.port, at.host, resolve)
  })
  return server
}

interface ServedAt {
  host: string
  port: number
}
