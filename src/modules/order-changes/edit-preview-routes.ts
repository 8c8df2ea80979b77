import type { ErrorCode } from '../../error-codes.ts'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import type { OrderChangeDeps } from './deps.ts'
import { previewEdit } from './edit-preview-money.ts'
import { EditPreview, MerchantEdit, ShopperEdit } from './schema.ts'

/** What an edit would change, for the merchant and the shopper. */

type Deps = Pick<OrderChangeDeps, 'tax'>

const FAILURES: readonly ErrorCode[] = [
  'order_not_found',
  'order_busy',
  'order_item_not_found',
  'charge_not_found',
  'disputed',
  'gift_card_issued',
  'invalid_transition',
  'quantity_exceeds_open',
  'tax_provider_unavailable',
]

const summary =
  'Preview an edit: its totals, tax and shipping, and what would be refunded or charged. Nothing is reserved.'

export const storefrontRoutes =
  (deps: Deps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/orders/:orderId/edit/preview',
      {
        config: { failures: ['unknown_tenant', ...FAILURES] },
        schema: {
          operationId: 'previewShopperEdit',
          tags: ['checkout'],
          summary,
          params: Params('tenant', 'orderId'),
          body: ShopperEdit,
          response: { 200: EditPreview },
        },
      },
      ({ db, params, body }) => previewEdit(deps, db, params.orderId, body),
    )
  }

export const merchantRoutes =
  (deps: Deps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/orders/:id/edit/preview',
      {
        config: { scope: 'read:own_orders', failures: FAILURES },
        schema: {
          operationId: 'previewEdit',
          tags: ['merchant-orders'],
          summary,
          params: Params('id'),
          body: MerchantEdit,
          response: { 200: EditPreview },
        },
      },
      ({ db, params, body }) => previewEdit(deps, db, params.id, body),
    )
  }
