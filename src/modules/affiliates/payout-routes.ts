import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { Id, isUuid, PageOf, Params, ref } from '../../kernel/schema.ts'
import { exportCsv } from './bank-export.ts'
import {
  COMMISSION_STATES,
  Commission,
  Declined,
  NewPayouts,
  PAYOUT_STATES,
  Payout,
  PayoutsMade,
} from './commission-schema.ts'
import * as commissions from './commissions.ts'
import { approve, decline } from './decide-money.ts'
import { mailPaid } from './page.ts'
import * as money from './payout-money.ts'
import { type AffiliateDeps, emptyBody, FEATURE_OFF, MANAGE, PATH, READ, tags } from './routes.ts'

/** Refusals that are not stored under the key: commissions may be approved later. */
const PASSING: readonly ErrorCode[] = [...FEATURE_OFF, 'nothing_to_pay']
const COMMISSION: readonly ErrorCode[] = [
  ...FEATURE_OFF,
  'commission_not_found',
  'invalid_transition',
]
const PAYOUT: readonly ErrorCode[] = [...FEATURE_OFF, 'payout_not_found', 'invalid_transition']

const OneCommission = Type.Object({ commission: ref(Commission) })
const OnePayout = Type.Object({ payout: ref(Payout) })

/** Stands for a text that is not an id: a filter with it finds nothing. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

function readId(query: unknown, name: string): string | undefined {
  const id = readText(query, name)
  return id === undefined || isUuid(id) ? id : NO_ID
}

export const merchantRoutes =
  (deps: AffiliateDeps): Routes =>
  async (app) => {
    await commissionRoutes(app)
    await payoutRoutes(deps)(app)
    await bankRoutes(deps)(app)
  }

const commissionRoutes: Routes = async (app) => {
  app.get(
    `${PATH}/commissions`,
    {
      config: {
        scope: READ,
        query: {
          affiliate_id: Id,
          order_id: Id,
          status: Type.Enum([...COMMISSION_STATES]),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listCommissions',
        tags,
        summary:
          'List the commissions and clawbacks, newest first, with the attribution of each order.',
        response: { 200: PageOf('commissions', ref(Commission)) },
      },
    },
    ({ db, query }) => {
      const filters = {
        affiliate_id: readId(query, 'affiliate_id'),
        order_id: readId(query, 'order_id'),
        status: readOneOf(query, 'status', COMMISSION_STATES),
      }
      return commissions.list(db, filters, readPage(query))
    },
  )

  app.get(
    `${PATH}/commissions/:id`,
    {
      config: { scope: READ, failures: ['commission_not_found'] },
      schema: {
        operationId: 'readCommission',
        tags,
        summary: 'Read a commission.',
        params: Params('id'),
        response: { 200: OneCommission },
      },
    },
    async ({ db, params }) => ({ commission: await commissions.get(db, params.id) }),
  )

  app.post(
    `${PATH}/commissions/:id/approve`,
    {
      config: { scope: MANAGE, failures: COMMISSION },
      schema: {
        operationId: 'approveCommission',
        tags,
        summary: 'Approve the pending commissions of an order before their delay is over.',
        params: Params('id'),
        response: { 200: OneCommission },
      },
    },
    async ({ db, actor, params }) => ({ commission: await approve(db, actor, params.id) }),
  )

  app.post(
    `${PATH}/commissions/:id/decline`,
    {
      config: { scope: MANAGE, failures: COMMISSION },
      preValidation: emptyBody,
      schema: {
        operationId: 'declineCommission',
        tags,
        summary:
          'Decline a commission that is in no payout. Its order earns nothing more, whatever becomes of it.',
        params: Params('id'),
        body: Declined,
        response: { 200: OneCommission },
      },
    },
    async ({ db, actor, params, body }) => ({
      commission: await decline(db, actor, params.id, body),
    }),
  )
}

const payoutRoutes =
  (deps: AffiliateDeps): Routes =>
  async (app) => {
    app.post(
      `${PATH}/payouts`,
      {
        config: {
          scope: MANAGE,
          idempotent: true,
          failures: [...PASSING, 'affiliate_not_found'],
        },
        preValidation: emptyBody,
        schema: {
          operationId: 'createPayouts',
          tags,
          summary:
            'Create payouts of all approved commissions: for the affiliates that are named, or for all that are due. A negative balance carries over and is not paid.',
          body: NewPayouts,
          response: { 201: PayoutsMade },
        },
      },
      (request, reply) => {
        const { idempotencyKey: secret } = deps
        const options = { operation: 'affiliate_payouts', secret, passing: PASSING }
        return once(request, reply, options, (claim) =>
          money.makePayouts(request.db, { actor: request.actor, claim }, request.body),
        )
      },
    )

    app.post(
      `${PATH}/payouts/:id/mark-paid`,
      {
        config: { scope: MANAGE, failures: PAYOUT },
        schema: {
          operationId: 'markPayoutPaid',
          tags,
          summary:
            'Mark a payout as paid by the bank. Its commissions never change again, and a mail tells the affiliate.',
          params: Params('id'),
          response: { 200: OnePayout },
        },
      },
      async ({ db, actor, params }) => {
        const onPaid: Parameters<typeof money.markPaid>[1]['onPaid'] = (tx, payout) =>
          mailPaid(deps, tx, payout)
        return { payout: await money.markPaid(db, { actor, onPaid }, params.id) }
      },
    )

    app.post(
      `${PATH}/payouts/:id/cancel`,
      {
        config: { scope: MANAGE, failures: PAYOUT },
        schema: {
          operationId: 'cancelPayout',
          tags,
          summary: 'Cancel a payout that the bank has not paid. All of it is due again.',
          params: Params('id'),
          response: { 200: OnePayout },
        },
      },
      async ({ db, actor, params }) => ({
        payout: await money.cancelPayout(db, actor, params.id),
      }),
    )
  }

const bankRoutes =
  ({ keys }: AffiliateDeps): Routes =>
  async (app) => {
    app.get(
      `${PATH}/payouts`,
      {
        config: {
          scope: READ,
          query: { affiliate_id: Id, status: Type.Enum([...PAYOUT_STATES]), ...PAGE_QUERY },
        },
        schema: {
          operationId: 'listPayouts',
          tags,
          summary: 'List payouts, newest first.',
          response: { 200: PageOf('payouts', ref(Payout)) },
        },
      },
      ({ db, query }) => {
        const status = readOneOf(query, 'status', PAYOUT_STATES)
        const affiliate_id = readId(query, 'affiliate_id')
        return commissions.listPayouts(db, { affiliate_id, status }, readPage(query))
      },
    )

    app.get(
      `${PATH}/payouts/export.csv`,
      {
        config: { scope: MANAGE, query: { status: Type.Enum([...PAYOUT_STATES]) } },
        schema: {
          operationId: 'exportPayouts',
          tags,
          summary:
            'Export payouts for the bank as CSV, by default those that are not paid, each with its account.',
          response: { 200: { content: { 'text/csv': { schema: Type.String() } } } },
        },
      },
      async ({ db, query }, reply) => {
        const status = readOneOf(query, 'status', PAYOUT_STATES) ?? 'pending'
        return reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="payouts.csv"')
          .header('cache-control', 'no-store')
          .send(Readable.from(exportCsv(keys, db, status)) as never)
      },
    )

    app.get(
      `${PATH}/payouts/:id`,
      {
        config: { scope: READ, failures: ['payout_not_found'] },
        schema: {
          operationId: 'readPayout',
          tags,
          summary: 'Read a payout.',
          params: Params('id'),
          response: { 200: OnePayout },
        },
      },
      async ({ db, params }) => ({ payout: await commissions.getPayout(db, params.id) }),
    )
  }
