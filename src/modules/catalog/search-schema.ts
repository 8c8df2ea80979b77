import { type Static, Type } from 'typebox'
import { Nullable, ref, Shared } from '../../kernel/schema.ts'
import { PublicProduct, StorefrontProduct } from './schema.ts'

export const SORTS = ['relevance', 'price_asc', 'price_desc', 'newest'] as const
export type Sort = (typeof SORTS)[number]

export const SearchFilters = Shared(
  'StorefrontSearchFilters',
  Type.Object({
    priceMinCents: Nullable(Type.Integer()),
    priceMaxCents: Nullable(Type.Integer()),
    collectionSlug: Nullable(Type.String()),
  }),
)
export type SearchFilters = Static<typeof SearchFilters>

/** Both ends belong to it: sent back as filters they find just what was counted. */
const PriceBucket = Type.Object({
  min_cents: Type.Integer(),
  max_cents: Nullable(Type.Integer()),
  count: Type.Integer(),
})

const CollectionCount = Type.Object({
  slug: Type.String(),
  title: Type.String(),
  count: Type.Integer(),
})

const facets = {
  price_buckets: Type.Array(PriceBucket),
  collections: Type.Array(CollectionCount),
}

export const SearchFacets = Shared('StorefrontSearchFacets', Type.Object(facets))

/** What a search finds, as the database gives it. */
export const Found = Type.Object({
  result_count: Type.Integer(),
  ...facets,
  products: Type.Array(PublicProduct),
})
export type Found = Static<typeof Found>

export const SearchAnswer = Shared(
  'StorefrontSearch',
  Type.Object({
    query: Type.String(),
    results: Type.Array(ref(StorefrontProduct)),
    filters: ref(SearchFilters),
    facets: ref(SearchFacets),
    result_count: Type.Integer(),
    limit: Type.Integer(),
    offset: Type.Integer(),
  }),
)
export type SearchAnswer = Static<typeof SearchAnswer>
