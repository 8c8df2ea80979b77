import type { App } from './route.ts'

/**
 * A served request, as it is counted. It names the route's pattern and not the path, which may hold
 * a secret.
 */
export interface ServedRequest {
  route: string
  method: string
  status: number
  seconds: number
}

/** Logs each served request once, and passes it to the metrics. */
export function logRequests(app: App, observe: ((answered: ServedRequest) => void) | null): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const status = reply.statusCode
    observe?.({ route, method, status, seconds: reply.elapsedTime / 1_000 })
    const ms = Math.round(reply.elapsedTime * 10) / 10
    const actor = request.actor?.name
    const tenant = request.db?.tenant
    request.log.info({ reqId: request.id, route, method, status, ms, actor, tenant }, 'request')
  })
}
