import type { ApiCall } from '../kernel/api-call.ts'
import type { App } from './route.ts'

/** Whether a call counts. Failures on our side do not count, and neither do calls that the limiter refused. */
const isCounted = (status: number): boolean => status < 500 && status !== 429

/** Reports every call that was made with a merchant key, once it is answered. */
export function countCalls(app: App, count: (call: ApiCall) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { merchant, db } = request
    if (merchant !== undefined && isCounted(reply.statusCode)) {
      const { tenant, credentialId } = merchant
      count({ tenant, credentialId, atMs: db.clock.now() })
    }
    done()
  })
}
