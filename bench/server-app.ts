import { buildApp } from '../src/compose/app.ts'
import { readConfig } from '../src/config.ts'
import { openMetrics } from '../src/http/metrics.ts'
import { createLogger } from '../src/platform/log.ts'
import { openRuntime } from '../src/runtime.ts'
import { report } from './load.ts'

/** The whole application, as `api` runs it, on a database that is ready. */
const [databaseUrl = '', secretKey = '', operatorToken = 'no operator in this benchmark'] =
  process.argv.slice(2)
const runtime = await openRuntime({
  config: readConfig(process.env),
  secrets: {
    OPERATOR_TOKEN: operatorToken,
    STOREFRONT_TOKEN: 'a token for the benchmark alone, never used',
    SECRET_KEY: secretKey,
  },
  logger: createLogger('info', { write: () => {} }),
  databaseUrl,
  metrics: openMetrics(),
})
runtime.cache.start()
const app = await buildApp(runtime)
report(await app.listen({ host: '127.0.0.1', port: 0 }))
