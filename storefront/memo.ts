const memos = new WeakMap<object, Map<string, { value: unknown; version: string }>>()

/**
 * Computes a value once, and keeps it as long as the object that it is made from. For each name
 * only the newest version is kept, so that a site that is published all day long does not fill the
 * memory.
 */
export function memoize<T>(from: object, name: string, make: () => T, version = ''): T {
  let ofObject = memos.get(from)
  if (ofObject === undefined) {
    ofObject = new Map()
    memos.set(from, ofObject)
  }
  const known = ofObject.get(name)
  if (known !== undefined && known.version === version) return known.value as T
  const value = make()
  ofObject.set(name, { value, version })
  return value
}
