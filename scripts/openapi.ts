import { fileURLToPath } from 'node:url'
import { buildApp } from '../src/compose/app.ts'
import { readConfig } from '../src/config.ts'
import { documentText } from '../src/http/openapi.ts'
import { createLogger } from '../src/platform/log.ts'
import { openRuntime } from '../src/runtime.ts'
import { writeOrCheck } from './compare.ts'

/** The address of a database that no query goes to: the routes describe themselves. */
const NOWHERE = 'postgres://nobody@127.0.0.1:1/nothing'

/** Writes generated/openapi.json from the routes, without a database. `--check` only compares. */
async function main(args: readonly string[]): Promise<void> {
  const unused = 'a secret that nothing is signed with'
  const secrets = { OPERATOR_TOKEN: unused, STOREFRONT_TOKEN: unused, SECRET_KEY: unused }
  const runtime = await openRuntime({
    config: readConfig({}),
    secrets,
    logger: createLogger('silent'),
    databaseUrl: NOWHERE,
  })
  const app = await buildApp(runtime)
  await app.ready()
  const text = await documentText(app)
  await app.close()
  await runtime.close()
  await writeOrCheck(
    fileURLToPath(new URL('../generated/openapi.json', import.meta.url)),
    text,
    args,
  )
}

await main(process.argv.slice(2))
