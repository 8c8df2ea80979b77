import type { Db } from '../../db/database.ts'
import type { ListPlace } from './list-schema.ts'
import * as queries from './public-queries.ts'

/** The active products of a store, for modules that go through all of them. */

/** A product of a list, in its version. `at` and `id` are its place. */
export type ActiveProduct = Awaited<ReturnType<typeof queries.listActiveProducts>>[number]

/** The pages of all active products, newest first. No transaction is open between two pages. */
export async function* walkActiveProducts(
  db: Db,
  limit: number,
): AsyncGenerator<readonly ActiveProduct[]> {
  let after: ListPlace | null = null
  for (;;) {
    const page: readonly ActiveProduct[] = await queries.listActiveProducts(db, after, limit)
    if (page.length > 0) yield page
    after = page.at(-1) ?? null
    if (after === null || page.length < limit) return
  }
}

export const listActiveProducts = queries.listActiveProducts
export const listMarked = queries.listMarked
