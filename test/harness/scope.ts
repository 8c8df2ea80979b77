import { after, before, type TestContext } from 'node:test'

/** What the harness opens ends with a test, or with a scope that is used in its place. */
export interface OpenScope {
  /** Only its hook is used by the harness, so that a scope does as well as a test. */
  scope: TestContext
  /** Ends all that was opened, the last first. A failure of one end keeps none of the others open. */
  end(): Promise<void>
}

export function openScope(): OpenScope {
  const ends: (() => unknown)[] = []
  const scope = { after: (end: () => unknown) => ends.push(end) }
  return {
    scope: scope as unknown as TestContext,
    async end() {
      const faults: unknown[] = []
      for (const end of ends.splice(0).reverse()) {
        await (async () => end())().catch((fault) => faults.push(fault))
      }
      if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults)
    },
  }
}

/**
 * The scope of the suite that calls this, or of the file outside of any suite. For `before` hooks, whose
 * own context has no end.
 */
export function suiteScope(): TestContext {
  const { scope, end } = openScope()
  after(end)
  return scope
}

/** Shares one thing among all tests of a suite or a file: opened before the first test, ended after the last. */
export function share<T>(open: (scope: TestContext) => Promise<T>): { current: T } {
  const scope = suiteScope()
  const held = {} as { current: T }
  before(async () => {
    held.current = await open(scope)
  })
  return held
}
