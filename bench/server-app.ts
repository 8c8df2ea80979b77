import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createLogger } from '../src/platform/log.ts'
import { openRuntime } from '../src/runtime.ts'

/** The whole application, as `api` runs it, on a database that is ready. */
const [databaseUrl = '', secretKey = ''] = process.argv.slice(2)
const token = 'a token for the benchmark alone, never used'
const runtime = await openRuntime({
  config: readConfig(process.env),
  secrets: { OPERATOR_TOKEN: token, STOREFRONT_TOKEN: token, SECRET_KEY: secretKey },
  logger: createLogger('info', { write: () => {} }),
  databaseUrl,
})
const app = await buildApp(runtime)
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) })
