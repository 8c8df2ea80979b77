import type { TestContext } from 'node:test'
import { DEMO_STORES, stockDemo } from '../../src/demo-stock.ts'
import { ownToken } from '../../src/runtime.ts'
import { addStorefront } from '../../src/storefront.ts'
import { openTestApp, STOREFRONT_TOKEN, type TestApp, type TestAppOptions } from './app.ts'

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
  const app = await openTestApp(t, {
    ...options,
    live: true,
    extend: async (built, runtime) => {
      const { config, logger } = runtime
      const storefront = await addStorefront(built, {
        config,
        token: STOREFRONT_TOKEN,
        platformToken: ownToken(runtime),
        logger,
      })
      built.addHook('onClose', () => storefront.close())
    },
  })
  // Created by the harness, so that the test has a merchant's keys, too.
  if (tenants.includes('demo')) await app.store('demo')
  const all = DEMO_STORES.filter(({ tenant_ref }) => tenants.includes(tenant_ref))
  await stockDemo(app.runtime, { all, imagesMax: options.imagesMax ?? 1 })
  const { port } = new URL(app.url)
  return { ...app, at: (tenant) => `http://${tenant}.localhost:${port}` }
}
