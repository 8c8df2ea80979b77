import { createServer, type Server } from 'node:http'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { App } from './route.ts'

/** One registry for each process. Its default metrics tell of memory, event loop and handles. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })

const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Requests by route, method and status.',
  labelNames: ['route', 'method', 'status'],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [registry],
})

/** Counts and logs each answer. Only the route's pattern is kept: a path may hold a secret. */
export function measureRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const seconds = reply.elapsedTime / 1_000
    const status = String(reply.statusCode)
    durations.observe({ route, method: request.method, status }, seconds)
    request.log.info(
      {
        route,
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        actor: request.actor?.name,
        tenant: request.db?.tenant,
      },
      'request',
    )
  })
}

/** The metrics have a port of their own, so that no storefront's host can ask for them. */
export async function serveMetrics(host: string, port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': registry.contentType })
    return response.end(await registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  return server
}
