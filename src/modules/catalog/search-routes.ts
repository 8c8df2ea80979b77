import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import {
  QUERY_LENGTH_MAX,
  readSearch,
  SEARCH_PAGE,
  type SearchDeps,
  SUGGESTIONS,
  search,
  suggest,
} from './search.ts'
import { SearchAnswer, SORTS, SuggestionsAnswer } from './search-schema.ts'

const Price = Type.Integer({
  minimum: 0,
  description: "In cents, compared with the price of a product's cheapest variant.",
})
const Words = Type.String({
  description: `Words of a name, SKU or description. Only the first ${QUERY_LENGTH_MAX} characters count.`,
})
const { limitMax, limitDefault, offsetMax } = SEARCH_PAGE

export const publicRoutes =
  (deps: SearchDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/tenants/:tenant/catalog/search',
      {
        config: {
          withoutCacheControl: true,
          failures: ['unknown_tenant'],
          query: {
            q: Words,
            price_min_cents: Price,
            price_max_cents: Price,
            collection: Type.String({
              description:
                'The slug of a collection: only its products are found, and without `q` all of them.',
            }),
            sort: Type.Enum([...SORTS], { default: 'relevance' }),
            limit: Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault }),
            offset: Type.Integer({ minimum: 0, maximum: offsetMax, default: 0 }),
          },
        },
        schema: {
          operationId: 'searchProducts',
          tags: ['public'],
          summary:
            'Search the active products of a live store. Without `q` nothing is found; with `collection` and without `q`, all products of the collection.',
          params: Params('tenant'),
          response: { 200: ref(SearchAnswer) },
        },
      },
      async ({ params, query }, reply) => {
        const json = await search(deps, params.tenant, readSearch(query))
        return reply.type('application/json; charset=utf-8').send(json as never)
      },
    )

    app.get(
      '/v1/tenants/:tenant/catalog/suggestions',
      {
        config: {
          withoutCacheControl: true,
          failures: ['unknown_tenant'],
          query: {
            q: Words,
            limit: Type.Integer({
              minimum: 1,
              maximum: SUGGESTIONS.limitMax,
              default: SUGGESTIONS.limitDefault,
            }),
          },
        },
        schema: {
          operationId: 'suggestProducts',
          tags: ['public'],
          summary: `Suggest products while a shopper types: as a search finds them, of the first ${SUGGESTIONS.lookedAt} matches, without facets and pages.`,
          params: Params('tenant'),
          response: { 200: ref(SuggestionsAnswer) },
        },
      },
      async ({ params, query }, reply) => {
        const json = await suggest(deps, params.tenant, query)
        return reply.type('application/json; charset=utf-8').send(json as never)
      },
    )
  }
