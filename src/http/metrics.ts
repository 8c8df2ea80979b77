import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { FailureKind } from '../errors.ts'
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
  /**
   * Serves the metrics on a port of its own, so that they cannot be read through a store's host.
   */
  serve(host: string, port: number): Promise<Server>
}

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
  return {
    countLedger: countLedger(registry),
    observe: ({ seconds, ...labels }) => durations.observe(labels, seconds),
    countLive: countLive(registry),
    countFailure: (kind) => failures.inc({ kind }),
    serve: (host, port) => serve(registry, host, port),
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

/** Counts in a plain map: a labelled counter takes ten times as long as the response it counts. */
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

async function serve(registry: Registry, host: string, port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      return response.writeHead(404, SAFE_HEADERS).end()
    }
    response.writeHead(200, { 'content-type': registry.contentType, ...SAFE_HEADERS })
    return response.end(await registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  return server
}
