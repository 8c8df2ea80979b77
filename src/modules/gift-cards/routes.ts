import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { callerOf, type Limits } from '../../platform/rate-limits.ts'
import type { CodeKeys } from './card-code.ts'
import * as money from './money.ts'
import {
  Adjustment,
  CodeToCheck,
  GIFT_CARD_STATUSES,
  GiftCard,
  GiftCardPatch,
  GiftCardStatus,
  GiftCardTransaction,
  IssuedBatch,
  IssuedCard,
  NewBatch,
  NewGiftCard,
  ShownBalance,
} from './schema.ts'
import * as giftCards from './service.ts'

export interface GiftCardDeps {
  keys: CodeKeys
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
  limits: Pick<Limits, 'velocity'>
}

const scope = 'manage:own_giftcards'
const tags = ['merchant-commerce']

/** Refusals that are not stored under the key: the add-on may be switched on later. */
const FEATURE_OFF: readonly ErrorCode[] = ['feature_not_enabled', 'operator_restricted']

const OneCard = Type.Object({ gift_card: ref(GiftCard) })

export const merchantRoutes =
  (deps: GiftCardDeps): Routes =>
  async (app) => {
    await issueRoutes(deps)(app)
    await readRoutes(app)
    await changeRoutes(deps)(app)
  }

const issueRoutes =
  ({ keys, idempotencyKey: secret }: GiftCardDeps): Routes =>
  async (app) => {
    const showCodes =
      ({ db }: FastifyRequest) =>
      (answer: { status: number; body: string }) =>
        giftCards.showCodes(db, keys, answer)

    app.post(
      '/v1/merchant/gift-cards',
      {
        config: { scope, idempotent: true, failures: [...FEATURE_OFF, 'limit_reached'] },
        schema: {
          operationId: 'issueGiftCard',
          tags,
          summary:
            'Issue a gift card. Its code is shown in this answer, and to a replay within 24 hours.',
          body: NewGiftCard,
          response: { 201: IssuedCard },
        },
      },
      (request, reply) =>
        once(
          request,
          reply,
          { operation: 'gift_card_issue', secret, passing: FEATURE_OFF, fill: showCodes(request) },
          (claim) => money.issue(request.db, keys, { actor: request.actor, claim }, request.body),
        ),
    )

    app.post(
      '/v1/merchant/gift-cards/batch',
      {
        config: { scope, idempotent: true, failures: [...FEATURE_OFF, 'limit_reached'] },
        schema: {
          operationId: 'issueGiftCards',
          tags,
          summary: 'Issue up to 1,000 equal gift cards: all of them, or none.',
          body: NewBatch,
          response: { 201: IssuedBatch },
        },
      },
      (request, reply) =>
        once(
          request,
          reply,
          { operation: 'gift_card_batch', secret, passing: FEATURE_OFF, fill: showCodes(request) },
          (claim) =>
            money.issueBatch(request.db, keys, { actor: request.actor, claim }, request.body),
        ),
    )
  }

const readRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/gift-cards',
    {
      config: {
        scope,
        query: { status: GiftCardStatus, last4: Type.String(), ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listGiftCards',
        tags,
        summary: "List the store's gift cards, newest first.",
        response: { 200: PageOf('gift_cards', ref(GiftCard)) },
      },
    },
    ({ db, query }) => {
      const status = readOneOf(query, 'status', GIFT_CARD_STATUSES)
      const last4 = readText(query, 'last4')?.toUpperCase()
      return giftCards.list(db, { status, last4 }, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/gift-cards/:id',
    {
      config: { scope, failures: ['gift_card_not_found'] },
      schema: {
        operationId: 'readGiftCard',
        tags,
        summary: 'Read a gift card.',
        params: Params('id'),
        response: { 200: OneCard },
      },
    },
    async ({ db, params }) => ({ gift_card: await giftCards.get(db, params.id) }),
  )

  app.get(
    '/v1/merchant/gift-cards/:id/transactions',
    {
      config: { scope, query: PAGE_QUERY, failures: ['gift_card_not_found'] },
      schema: {
        operationId: 'listGiftCardTransactions',
        tags,
        summary: 'List the transactions of a gift card, newest first.',
        params: Params('id'),
        response: { 200: PageOf('transactions', ref(GiftCardTransaction)) },
      },
    },
    ({ db, params, query }) => giftCards.listTransactions(db, params.id, readPage(query)),
  )
}

const CHANGE_FAILURES: readonly ErrorCode[] = [
  'gift_card_not_found',
  'invalid_transition',
  ...FEATURE_OFF,
]

const changeRoutes =
  ({ idempotencyKey: secret }: GiftCardDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/gift-cards/:id/adjust',
      {
        config: {
          scope,
          idempotent: true,
          failures: [...CHANGE_FAILURES, 'insufficient_balance', 'balance_limit_exceeded'],
        },
        schema: {
          operationId: 'adjustGiftCard',
          tags,
          summary: 'Adjust the balance of a gift card. Amounts that orders hold cannot be taken.',
          params: Params('id'),
          body: Adjustment,
          response: { 200: OneCard },
        },
      },
      (request, reply) => {
        const { id } = request.params
        const options = { operation: 'gift_card_adjust', secret, target: id, passing: FEATURE_OFF }
        return once(request, reply, options, (claim) =>
          money.adjust(request.db, { actor: request.actor, claim }, id, request.body),
        )
      },
    )

    for (const [verb, act, summary] of [
      ['disable', giftCards.disable, 'Disable a gift card. The call can be repeated.'],
      ['enable', giftCards.enable, 'Enable a disabled gift card.'],
    ] as const) {
      app.post(
        `/v1/merchant/gift-cards/:id/${verb}`,
        {
          config: { scope, failures: CHANGE_FAILURES },
          schema: {
            operationId: `${verb}GiftCard`,
            tags,
            summary,
            params: Params('id'),
            response: { 200: OneCard },
          },
        },
        async ({ db, actor, params }) => ({
          gift_card: await act(db, actor, (params as { id: string }).id),
        }),
      )
    }

    await updateRoutes(app)
  }

const updateRoutes: Routes = async (app) => {
  app.patch(
    '/v1/merchant/gift-cards/:id',
    {
      config: { scope, failures: CHANGE_FAILURES },
      schema: {
        operationId: 'changeGiftCard',
        tags,
        summary:
          'Change the expiry or the note of a gift card, or its recipient while its code has not been mailed.',
        params: Params('id'),
        body: GiftCardPatch,
        response: { 200: OneCard },
      },
    },
    async ({ db, actor, params, body }) => ({
      gift_card: await giftCards.patch(db, actor, params.id, body),
    }),
  )
}

export const storefrontRoutes =
  (deps: GiftCardDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/gift-cards/balance',
      {
        config: { failures: ['unknown_tenant', 'gift_card_not_found'] },
        schema: {
          operationId: 'checkGiftCard',
          tags: ['storefront'],
          summary:
            'Check the spendable balance of a gift card. Unknown, disabled and expired cards get the same 404.',
          params: Params('tenant'),
          body: CodeToCheck,
          response: { 200: Type.Object({ gift_card: ShownBalance }) },
        },
      },
      async ({ db, ip, body }) => ({
        gift_card: await giftCards.checkBalance(deps, db, callerOf(ip), body.code),
      }),
    )
  }
