import { type Static, Type } from 'typebox'
import { Id, Nullable, ref, Shared } from '../../kernel/schema.ts'
import { StorefrontProduct } from './schema.ts'

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

/**
 * A price range, both ends included: sent back as filters, they find exactly the counted products.
 */
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

/** The result of a search, as the database returns it. */
export const SearchResult = Type.Object({
  result_count: Type.Integer(),
  corrected: Type.Boolean(),
  ...facets,
  products: Type.Array(Type.Object({ id: Id, version: Type.String() })),
})
export type SearchResult = Static<typeof SearchResult>

/** The result of a look for suggestions, as the database returns it. */
export const SuggestionResult = Type.Object({
  matches: Type.Integer(),
  corrected: Type.Boolean(),
  products: Type.Array(Type.Object({ id: Id, version: Type.String() })),
})

const CORRECTED = Type.Boolean({
  description:
    'Nothing has the words of `q`: these are the results for words that are alike, or that have `q` as a part.',
})

export const SuggestionsAnswer = Shared(
  'StorefrontSuggestions',
  Type.Object({
    query: Type.String(),
    results: Type.Array(ref(StorefrontProduct)),
    result_count: Type.Integer({
      description: 'How many products were found, up to the number that is looked at.',
    }),
    result_count_is_least: Type.Boolean({
      description: 'True: a search may find more, and may rank others first.',
    }),
    corrected: CORRECTED,
  }),
)

export const SearchAnswer = Shared(
  'StorefrontSearch',
  Type.Object({
    query: Type.String(),
    results: Type.Array(ref(StorefrontProduct)),
    filters: ref(SearchFilters),
    facets: ref(SearchFacets),
    result_count: Type.Integer(),
    corrected: CORRECTED,
    limit: Type.Integer({
      description:
        'Less than asked for where a page ends early because of its bytes. The next page begins at `offset` + `limit`.',
    }),
    offset: Type.Integer(),
  }),
)
