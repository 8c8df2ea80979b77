import type { TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/platform/log.ts'
import { openRuntime, type Runtime } from '../../src/runtime.ts'

const unused = 'a secret that nothing is signed with'

/** A runtime that asks no database: for what is only listed. */
export async function openIdleRuntime(
  t: TestContext,
  env: NodeJS.Dict<string> = {},
): Promise<Runtime> {
  const runtime = await openRuntime({
    config: readConfig({ NODE_ENV: 'test', ...env }),
    secrets: { OPERATOR_TOKEN: unused, STOREFRONT_TOKEN: unused, SECRET_KEY: unused },
    logger: createLogger('silent'),
    databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing',
  })
  t.after(() => runtime.close())
  return runtime
}
