import * as queries from './public-queries.ts'

/** The active products of a store, for modules that go through all of them. */

/** A product of a list, in its version. `at` and `id` are its place. */
export type ActiveProduct = Awaited<ReturnType<typeof queries.listActiveProducts>>[number]

export const listActiveProducts = queries.listActiveProducts
export const listMarked = queries.listMarked
export const readActiveVersion = queries.readActiveVersion
