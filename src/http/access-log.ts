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

/** Enough to recognise a path; what a scanner sends may have any length. */
const PATH_MAX = 200

/**
 * The path of a request that no route takes, without its query. A pattern would be "none" for all of
 * them, and say nothing.
 */
const unknownPath = (url: string) => url.split('?', 1)[0]?.slice(0, PATH_MAX)

/** Unknown paths that are logged in a second. A scanner sends thousands, and a few lines tell as much as all. */
const UNKNOWN_PER_SECOND = 20

/** Answers how many lines were left out before this one, or null where it is left out itself. */
function limitUnknown(): () => number | null {
  let [second, logged, leftOut] = [0, 0, 0]
  return () => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) [second, logged] = [now, 0]
    logged += 1
    if (logged > UNKNOWN_PER_SECOND) {
      leftOut += 1
      return null
    }
    const before = leftOut
    leftOut = 0
    return before
  }
}

/** Logs each served request once, but for floods of unknown paths, and passes it to the metrics. */
export function logRequests(app: App, observe: ((answered: ServedRequest) => void) | null): void {
  const leaveOut = limitUnknown()
  app.addHook('onResponse', async (request, reply) => {
    const { url } = request.routeOptions
    const route = url ?? 'none'
    const { method } = request
    const status = reply.statusCode
    observe?.({ route, method, status, seconds: reply.elapsedTime / 1_000 })
    const left_out = url === undefined ? leaveOut() : 0
    if (left_out === null) return
    const ms = Math.round(reply.elapsedTime * 10) / 10
    const actor = request.actor?.name
    const tenant = request.db?.tenant
    const path = url === undefined ? unknownPath(request.url) : undefined
    const line = { reqId: request.id, route, path, method, status, ms, actor, tenant }
    request.log.info(left_out === 0 ? line : { ...line, left_out }, 'request')
  })
}
