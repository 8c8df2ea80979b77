import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { clamp } from '../../kernel/page.ts'
import { readText } from '../../kernel/query.ts'
import { Id, Params, ref } from '../../kernel/schema.ts'
import { Fulfillment } from '../orders/parcel-schema.ts'
import { BUY, buyLabel } from './buy-label.ts'
import { DEFAULT_WEIGHT_GRAMS, NewLabel, ShippingLabel, ShippingRate } from './schema.ts'
import * as labels from './service.ts'
import { voidLabel } from './void-label.ts'

const scope = 'manage:own_fulfillment'
const tags = ['merchant-commerce']

const LABEL = '/v1/merchant/fulfillments/:id/label'
const OneLabel = Type.Object({ label: ref(ShippingLabel) })

/** Refusals that may pass by themselves: the key can be used again. */
const PASSING: readonly ErrorCode[] = ['order_on_hold', 'order_busy', 'label_exists']

/** The weight of the heaviest parcel. */
const WEIGHT_GRAMS_MAX = 1_000_000_000

/** A PDF may show nothing but itself. */
const PDF_POLICY = "default-src 'none'; frame-ancestors 'none'"

export interface LabelRouteDeps extends labels.LabelDeps {
  /** The key of the requests' fingerprints. */
  idempotencyKey: Buffer
}

export const merchantRoutes =
  (deps: LabelRouteDeps): Routes =>
  async (app) => {
    await readRoutes(deps)(app)
    await changeRoutes(deps)(app)
  }

const readRoutes =
  (deps: LabelRouteDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/merchant/fulfillments/rates',
      {
        config: {
          scope,
          query: {
            order_id: Id,
            weight_grams: Type.Integer({
              default: DEFAULT_WEIGHT_GRAMS,
              minimum: 1,
              maximum: WEIGHT_GRAMS_MAX,
            }),
          },
          failures: ['order_not_found', 'ship_to_missing', 'carrier_unavailable'],
        },
        schema: {
          operationId: 'listShippingRates',
          tags,
          summary: 'List the rates of the carriers for a parcel of an order.',
          response: { 200: Type.Object({ rates: Type.Array(ref(ShippingRate)) }) },
        },
      },
      async ({ db, query }) => {
        const grams = readText(query, 'weight_grams')
        const weight = clamp(grams, {
          min: 1,
          max: WEIGHT_GRAMS_MAX,
          otherwise: DEFAULT_WEIGHT_GRAMS,
        })
        return {
          rates: await labels.listRates(deps, db, readText(query, 'order_id') ?? '', weight),
        }
      },
    )

    app.get(
      LABEL,
      {
        config: { scope, failures: ['fulfillment_not_found', 'label_not_found'] },
        schema: {
          operationId: 'readLabel',
          tags,
          summary: 'Read the shipping label of a parcel: its service, its number and its cost.',
          params: Params('id'),
          response: { 200: OneLabel },
        },
      },
      async ({ db, params }) => ({
        label: labels.shownLabel(await labels.getLabel(db, params.id)),
      }),
    )

    app.get(
      `${LABEL}.pdf`,
      {
        config: {
          scope,
          failures: [
            'fulfillment_not_found',
            'label_not_found',
            'carrier_unavailable',
            'carrier_unconfirmed',
          ],
        },
        schema: {
          operationId: 'printLabel',
          tags,
          summary: 'Print the shipping label of a parcel: a PDF, as its carrier made it.',
          params: Params('id'),
          response: {
            200: { content: { 'application/pdf': { schema: Type.String({ format: 'binary' }) } } },
          },
        },
      },
      async ({ db, params }, reply) => {
        const { label, bytes } = await labels.printLabel(deps, db, params.id)
        return reply
          .header('content-disposition', `inline; filename="label-${label.id}.pdf"`)
          .header('content-security-policy', PDF_POLICY)
          .type('application/pdf')
          .send(bytes as never)
      },
    )
  }

const changeRoutes =
  (deps: LabelRouteDeps): Routes =>
  async (app) => {
    app.post(
      LABEL,
      {
        config: {
          scope,
          idempotent: true,
          failures: [
            'fulfillment_not_found',
            'invalid_transition',
            'order_on_hold',
            'order_busy',
            'ship_to_missing',
            'label_exists',
            'label_refused',
            'unknown_service',
            'carrier_unconfirmed',
          ],
        },
        schema: {
          operationId: 'buyLabel',
          tags,
          summary:
            'Buy a shipping label for a packed parcel. It sets the carrier, the service and the tracking of the parcel.',
          params: Params('id'),
          body: NewLabel,
          response: {
            201: Type.Object({ fulfillment: ref(Fulfillment), label: ref(ShippingLabel) }),
          },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: BUY, secret: deps.idempotencyKey, target: params.id }
        return once(request, reply, { ...options, passing: PASSING }, (claim) =>
          buyLabel(deps, db, { actor, claim }, { ...body, fulfillment_id: params.id }),
        )
      },
    )

    app.delete(
      LABEL,
      {
        config: {
          scope,
          failures: [
            'fulfillment_not_found',
            'label_not_found',
            'label_not_voidable',
            'invalid_transition',
            'order_busy',
            'idempotency_in_progress',
            'carrier_unconfirmed',
          ],
        },
        schema: {
          operationId: 'voidLabel',
          tags,
          summary:
            'Void the shipping label of a parcel that has not been shipped, or one that is `unused`, so that it costs nothing. A parcel that has not been shipped can get another then.',
          params: Params('id'),
          response: { 200: OneLabel },
        },
      },
      async ({ db, actor, params }, reply) => {
        const { status, headers, body } = await voidLabel(deps, db, actor, params.id)
        return reply
          .code(status as 200)
          .headers(headers)
          .send(body as never)
      },
    )
  }
