import { test } from 'node:test'
import { buildApp } from '../../src/compose/app.ts'
import { lazyCompilers } from '../../src/http/lazy-compilers.ts'
import { openTestRuntime } from '../harness/app.ts'
import { openTestDatabase } from '../harness/database.ts'

test('the shapes of all requests compile, which starting a server does not show', async (t) => {
  const runtime = await openTestRuntime(t, await openTestDatabase(t))
  const { buildSerializer } = lazyCompilers().compilersFactory ?? {}
  // Without our own for validators, Fastify compiles all of them while the app gets ready.
  const schemaController = { compilersFactory: { ...(buildSerializer && { buildSerializer }) } }
  const app = await buildApp(runtime, { schemaController })
  t.after(() => app.close())
  await app.ready()
})
