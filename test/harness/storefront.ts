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

/** A product of each demo store that has three images. All others have one: drawing takes a tenth of a second each. */
const GALLERIES = ['harbour-mug', 'cup-01', 'midnight-bar']

/** The platform with the storefront, as `serve` starts it, and with demo stores. */
export async function openTestShop(
  t: TestContext,
  tenants: readonly string[] = ['demo'],
  options: TestAppOptions = {},
): Promise<TestShop> {
  const from = await ensureShop(tenants)
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
    await fillShop(app.runtime, tenants)
  }
  const { port } = new URL(app.url)
  return { ...app, at: (tenant) => `http://${tenant}.localhost:${port}` }
}

/** Fills the demo stores once in a run of tests: drawing their images takes seconds. */
async function ensureShop(tenants: readonly string[]) {
  if (process.env.TEST_SERVER === undefined || tenants.length === 0) return null
  const key = tenants.toSorted().join()
  const files = join(tmpdir(), `shop ${key}`)
  const template = await ensureFilled(`shop ${key}`, async (database) => {
    const { scope, end } = openScope()
    try {
      const runtime = await openTestRuntime(scope, database)
      await fillShop(runtime, tenants)
      await cp(runtime.config.DATA_DIR, files, { recursive: true })
    } finally {
      await end()
    }
  })
  return { template, files, tenants }
}

async function fillShop(runtime: Runtime, tenants: readonly string[]) {
  const all = DEMO_STORES.filter(({ tenant_ref }) => tenants.includes(tenant_ref))
  await stockDemo(runtime, { all, imagesMax: (slug) => (GALLERIES.includes(slug) ? 3 : 1) })
}
