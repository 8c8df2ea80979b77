import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import * as money from './money.ts'
import {
  MovedCredit,
  NewCredit,
  NewDebit,
  StoreCreditAccount,
  StoreCreditTransaction,
} from './schema.ts'
import * as storeCredit from './service.ts'

export interface StoreCreditDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
  requireOrder: money.Caller['requireOrder']
}

const scope = 'manage:own_store_credit'
const tags = ['merchant-commerce']

/** Refusals that are not stored under the key: the add-on may be switched on later. */
const FEATURE_OFF: readonly ErrorCode[] = ['feature_not_enabled', 'operator_restricted']

export const merchantRoutes =
  (deps: StoreCreditDeps): Routes =>
  async (app) => {
    const { idempotencyKey: secret, requireOrder } = deps
    await readRoutes(app)

    app.post(
      '/v1/merchant/store-credit/:customer_ref/credit',
      {
        config: {
          scope,
          idempotent: true,
          failures: [...FEATURE_OFF, 'order_not_found', 'balance_limit_exceeded'],
        },
        schema: {
          operationId: 'creditCustomer',
          tags,
          summary: 'Credit a customer. The account is created if there is none.',
          params: Params('customer_ref'),
          body: NewCredit,
          response: { 201: MovedCredit },
        },
      },
      (request, reply) => {
        const target = request.params.customer_ref
        const options = { operation: 'store_credit_credit', secret, target, passing: FEATURE_OFF }
        return once(request, reply, options, (claim) =>
          money.creditByMerchant(
            request.db,
            { actor: request.actor, claim, requireOrder },
            target,
            request.body,
          ),
        )
      },
    )

    await debitRoutes(deps)(app)
  }

const debitRoutes =
  ({ idempotencyKey: secret, requireOrder }: StoreCreditDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/store-credit/:customer_ref/debit',
      {
        config: {
          scope,
          idempotent: true,
          failures: [
            ...FEATURE_OFF,
            'store_credit_not_found',
            'order_not_found',
            'insufficient_balance',
          ],
        },
        schema: {
          operationId: 'debitCustomer',
          tags,
          summary:
            "Debit a customer's credit, the earliest expiry first. Amounts that orders hold cannot be taken.",
          params: Params('customer_ref'),
          body: NewDebit,
          response: { 201: MovedCredit },
        },
      },
      (request, reply) => {
        const target = request.params.customer_ref
        const options = { operation: 'store_credit_debit', secret, target, passing: FEATURE_OFF }
        return once(request, reply, options, (claim) =>
          money.debit(
            request.db,
            { actor: request.actor, claim, requireOrder },
            target,
            request.body,
          ),
        )
      },
    )
  }

const readRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/store-credit',
    {
      config: { scope, query: { customer_ref: Type.String(), ...PAGE_QUERY } },
      schema: {
        operationId: 'listStoreCredit',
        tags,
        summary: 'List the store credit accounts of all customers or of one, newest first.',
        response: { 200: PageOf('accounts', ref(StoreCreditAccount)) },
      },
    },
    ({ db, query }) => storeCredit.list(db, readText(query, 'customer_ref'), readPage(query)),
  )

  app.get(
    '/v1/merchant/store-credit/:customer_ref',
    {
      config: { scope, failures: ['store_credit_not_found'] },
      schema: {
        operationId: 'readStoreCredit',
        tags,
        summary: "Read a customer's store credit accounts, one for each currency.",
        params: Params('customer_ref'),
        response: {
          200: Type.Object({
            customer_ref: Type.String(),
            accounts: Type.Array(ref(StoreCreditAccount)),
          }),
        },
      },
    },
    async ({ db, params }) => ({
      customer_ref: params.customer_ref,
      accounts: await storeCredit.get(db, params.customer_ref),
    }),
  )

  app.get(
    '/v1/merchant/store-credit/:customer_ref/transactions',
    {
      config: { scope, query: PAGE_QUERY, failures: ['store_credit_not_found'] },
      schema: {
        operationId: 'listStoreCreditTransactions',
        tags,
        summary: "List the transactions of a customer's store credit, newest first.",
        params: Params('customer_ref'),
        response: { 200: PageOf('transactions', ref(StoreCreditTransaction)) },
      },
    },
    ({ db, params, query }) =>
      storeCredit.listTransactions(db, params.customer_ref, readPage(query)),
  )
}
