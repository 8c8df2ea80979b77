import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DEMO_STORES, stockDemo } from '../../src/demo-stock.ts'
import { ownToken, type Runtime } from '../../src/runtime.ts'
import { addStorefront } from '../../src/storefront.ts'
import {
  openTestApp,
  openTestRuntime,
  STOREFRONT_TOKEN,
  type TestApp,
  type TestAppOptions,
} from './app.ts'
import { ensureFilled } from './database.ts'
import { openScope } from './scope.ts'

export interface TestShop extends TestApp {
  /** The URL of a store's site. */
  at(tenant: string): string
}

interface TestShopOptions extends TestAppOptions {
  /** How many images each product has. Drawing takes a tenth of a second each, so it is one unless a test needs more. */
  imagesMax?: number
}

/** The platform with the storefront, as `serve` starts it, and with demo stores. */
export async function openTestShop(
  t: TestContext,
  tenants: readonly string[] = ['demo'],
  options: TestShopOptions = {},
): Promise<TestShop> {
  const { imagesMax = 1 } = options
  const from = await ensureShop(tenants, imagesMax)
  const app = await openTestApp(t, {
    ...options,
    ...(from !== null && { from }),
    live: true,
    extend: async (built, runtime) => {
      const { config, logger } = runtime
      const storefront = await addStorefront(built, {
        config,
        token: STOREFRONT_TOKEN,
        platformToken: ownToken(runtime),
        logger,
        // Longer than in production: on a busy machine the first read of a process is slow.
        readMs: 60_000,
      })
      built.addHook('onClose', () => storefront.close())
    },
  })
  if (from === null) {
    // Created by the harness, so that the test has a merchant's keys, too.
    if (tenants.includes('demo')) await app.store('demo')
    await fillShop(app.runtime, tenants, imagesMax)
  }
  const { port } = new URL(app.url)
  return { ...app, at: (tenant) => `http://${tenant}.localhost:${port}` }
}

/** Fills the demo stores once in a run of tests: drawing their images takes seconds. */
async function ensureShop(tenants: readonly string[], imagesMax: number) {
  if (process.env.TEST_SERVER === undefined || tenants.length === 0) return null
  const key = `${tenants.toSorted().join()} ${imagesMax}`
  const files = join(tmpdir(), `shop ${key}`)
  const template = await ensureFilled(`shop ${key}`, async (database) => {
    const { scope, end } = openScope()
    try {
      const runtime = await openTestRuntime(scope, database)
      await fillShop(runtime, tenants, imagesMax)
      await cp(runtime.config.DATA_DIR, files, { recursive: true })
    } finally {
      await end()
    }
  })
  return { template, files, tenants }
}

async function fillShop(runtime: Runtime, tenants: readonly string[], imagesMax: number) {
  const all = DEMO_STORES.filter(({ tenant_ref }) => tenants.includes(tenant_ref))
  await stockDemo(runtime, { all, imagesMax })
}
