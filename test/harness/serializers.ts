import { lazySerializers, type Serialize } from '../../src/http/serializers.ts'

const kept = new Map<string, Serialize>()

/**
 * A test file builds the same app many times: the code that was made of a shape for the first serves
 * the others. Not for an app with routes of a test's own.
 */
export const KEPT_SERIALIZERS = lazySerializers((route, make) => {
  const key = JSON.stringify(route.schema)
  const known = kept.get(key) ?? make(route)
  kept.set(key, known)
  return known
})
