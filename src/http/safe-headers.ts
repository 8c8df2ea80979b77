/**
 * Headers of every answer. A browser must not guess its type, and no cache may keep it: most answers
 * belong to one caller. A route with a public answer sets a `cache-control` of its own.
 */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const

/** Headers of answers without `cache-control`: the contract shows public reads of sites and catalogs so. */
export const PUBLIC_HEADERS = { 'x-content-type-options': 'nosniff' } as const

/** The headers of a route's answers, its refusals included. */
export const headersOf = ({ withoutCacheControl }: { withoutCacheControl?: boolean }) =>
  withoutCacheControl === true ? PUBLIC_HEADERS : SAFE_HEADERS

/** Headers of public answers that a cache may keep, if it asks each time whether they have changed. */
export const REVALIDATED_HEADERS = { ...SAFE_HEADERS, 'cache-control': 'no-cache' } as const
