import type { Cart, Shopper } from './cart.ts'
import type { Shop } from './shop.ts'
import type { Site } from './site.ts'

/** One request to a store that is there. */
export interface Visit {
  site: Site
  shop: Shop
  url: URL
  /** `https://shop.example`: the store's own address where it has one. */
  origin: string
  cart: Cart
  shopper: Shopper | null
  /** Where the script and the store's style sheet are. */
  files: { script: string; sheet: string; icon: string }
  /** Where pictures are when that is not here. */
  cdn: string | null
  /** Something that would be worth knowing. */
  note(fields: Record<string, unknown>, message: string): void
}

const kept = new WeakMap<object, Map<string, { value: unknown; version: string }>>()

/**
 * What is made from an object is kept with it, and goes with it. Of each name only the newest version is
 * kept, so that a site that is published all day long fills no memory.
 */
export function remember<T>(from: object, name: string, make: () => T, version = ''): T {
  let all = kept.get(from)
  if (all === undefined) {
    all = new Map()
    kept.set(from, all)
  }
  const known = all.get(name)
  if (known !== undefined && known.version === version) return known.value as T
  const value = make()
  all.set(name, { value, version })
  return value
}
