import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { createScanner } from '../src/modules/health-claims/scanner.ts'
import { createSafeFetch } from '../src/platform/safe-fetch.ts'
import { openRuntime } from '../src/runtime.ts'
import { openTestDatabase } from './harness/database.ts'

test('a runtime stops each of its parts once, even if some of them fail to stop', async (t) => {
  const { url, secretKey } = await openTestDatabase(t)
  const stopped: string[] = []
  const scanner = {
    ...createScanner(),
    close: async () => {
      stopped.push('scanner')
      throw new Error('stuck')
    },
  }
  const safeFetch = {
    ...createSafeFetch({ testTargets: [] }),
    close: async () => {
      stopped.push('safe fetch')
    },
  }
  const runtime = await openRuntime({
    config: readConfig({ NODE_ENV: 'test' }),
    secrets: { OPERATOR_TOKEN: 'x', STOREFRONT_TOKEN: 'y', SECRET_KEY: secretKey },
    logger: pino({ level: 'silent' }),
    databaseUrl: url,
    scanner,
    safeFetch,
  })
  const databases = [runtime.database, runtime.operatorDatabase, runtime.workerDatabase]
  await Promise.all([...databases.map((each) => each.ping()), runtime.limits.ping()])
  await assert.rejects(runtime.close(), /stuck/)
  assert.deepEqual(stopped.toSorted(), ['safe fetch', 'scanner'])
  for (const each of databases) await assert.rejects(each.ping(), /after calling end/)
  await assert.rejects(runtime.limits.ping())
})
