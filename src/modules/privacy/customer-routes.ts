import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { SORTS } from '../customers/service.ts'
import { CustomerProfile, CustomerRow } from './customer-schema.ts'
import { listCustomers, readCustomer } from './customers.ts'

const scope = 'read:own_customers'
const tags = ['merchant-commerce']

export const merchantRoutes =
  ({ customersKey }: { customersKey: Buffer }): Routes =>
  async (app) => {
    app.get(
      '/v1/merchant/customers',
      {
        config: {
          scope,
          query: { q: Type.String(), sort: Type.Enum([...SORTS]), ...PAGE_QUERY },
        },
        schema: {
          operationId: 'listCustomers',
          tags,
          summary: "List the store's customers, with counts and sums of their orders.",
          response: { 200: PageOf('customers', ref(CustomerRow)) },
        },
      },
      ({ db, query }) => {
        const filters = { q: readText(query, 'q')?.trim(), sort: readOneOf(query, 'sort', SORTS) }
        return listCustomers(db, filters, readPage(query))
      },
    )

    app.get(
      '/v1/merchant/customers/:customer_ref',
      {
        config: { scope, failures: ['customer_not_found'] },
        schema: {
          operationId: 'readCustomer',
          tags,
          summary: 'Read a customer with addresses and the latest orders.',
          params: Params('customer_ref'),
          response: { 200: Type.Object({ customer: ref(CustomerProfile) }) },
        },
      },
      ({ db, params }) => readCustomer(db, customersKey, params.customer_ref),
    )
  }
