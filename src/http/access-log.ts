import type { App } from './route.ts'

/** One answer, as it is counted. Only the route's pattern is kept: a path may hold a secret. */
export interface Answered {
  route: string
  method: string
  status: number
  seconds: number
}

/** Logs each answer once, and tells whoever counts them. */
export function logAnswers(app: App, observe: ((answered: Answered) => void) | null): void {
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
