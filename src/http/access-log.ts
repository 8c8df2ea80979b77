import type { App } from './route.ts'

/**
 * A served request, as the metrics count it. It names the route's pattern and not the path, which may hold a secret.
 */
export interface ServedRequest {
  route: string
  method: string
  status: number
  seconds: number
}

/** How much of a path is logged: enough to recognise it, while a scanner may send any length. */
const PATH_MAX = 200

/**
 * Returns the path of a request for which there is no route, without its query. The pattern of the route would be
 * "none" for all of them, and say nothing.
 */
const unknownPath = (url: string) => url.split('?', 1)[0]?.slice(0, PATH_MAX)

/** How many unknown paths are logged in a second. A scanner sends thousands, and a few lines tell as much as all. */
const UNKNOWN_PER_SECOND = 20

/**
 * Makes a function to call before each line: it returns how many lines were left out before this one, or null where
 * this one is to be left out.
 */
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

/** Logs each served request once and passes it to the metrics. Of a flood of unknown paths only some are logged. */
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
