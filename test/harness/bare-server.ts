import type { TestContext } from 'node:test'
import { type Logger, pino } from 'pino'
import { Type } from 'typebox'
import { decorateRequests, onPlane } from '../../src/http/guards.ts'
import type { App, Plane, Routes } from '../../src/http/route.ts'
import { createServer, type ServerOptions } from '../../src/http/server.ts'

export const Ok = Type.Object({ ok: Type.Boolean() })

interface BareOptions extends Partial<Omit<ServerOptions, 'logger'>> {
  logger?: Logger
  plane?: Plane
}

/** The HTTP toolkit alone, with routes of the test's own and without a database. */
export async function openBareServer(t: TestContext, routes: Routes, options: BareOptions = {}) {
  const { plane = 'public', logger = pino({ level: 'silent' }), ...rest } = options
  const app: App = createServer({ trustProxy: [], ...rest, logger })
  decorateRequests(app)
  await app.register(onPlane(plane, null, [routes]))
  t.after(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url }
}
