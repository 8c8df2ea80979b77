import type { TestContext } from 'node:test'
import type { Scope } from '../../src/kernel/scopes.ts'
import type { TestApp } from './app.ts'
import { share } from './scope.ts'

/**
 * Opens one app for all tests of a file or a suite. Returns a function that makes the next store, for one test
 * alone, and a merchant with a key of just these scopes.
 */
export function shareStores<A extends TestApp>(open: (scope: TestContext) => Promise<A>) {
  const shared = share(open)
  let stores = 0
  return async (...scopes: Scope[]) => {
    const app = shared.current
    const tenant = `acme-${++stores}`
    return { app, tenant, acme: await app.merchant(tenant, ...scopes) }
  }
}
