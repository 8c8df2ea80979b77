import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Routes } from '../../http/route.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { type Scope, satisfies } from '../../kernel/scopes.ts'
import { lookup } from '../../platform/idempotency.ts'
import { isCallersKey } from '../../platform/idempotency-key.ts'
import { LOOKUP_SCOPES, OPERATIONS, SHOPPER_OPERATIONS } from '../operations/table.ts'
import type { MerchantOrder } from '../orders/schema.ts'
import { forShopper } from '../orders/show.ts'
import { refuse } from './errors.ts'

const Operation = (names: readonly string[]) =>
  Type.String({
    description: `${names.map((each) => `\`${each}\``).join(', ')}. To reject a held order is a \`cancel\`, to approve it a \`release\`.`,
  })

const LOOKED_UP = Object.keys(LOOKUP_SCOPES)

const KeyAnswer = Type.Object({
  operation: Type.String(),
  key: Type.String(),
  state: Type.Enum(['running', 'answered']),
  recovery_point: Type.String({ description: 'The last step of the operation that is committed.' }),
  resource_id: Nullable(Id),
  status: Nullable(
    Type.Integer({ description: 'The HTTP status of the stored answer, once there is one.' }),
  ),
  answer: Nullable(
    Type.Unknown({
      description: 'The body of the stored answer, which every call with this key gets.',
    }),
  ),
  created_at: Timestamp,
  answered_at: Nullable(Timestamp),
})

/** Finds a key of one of these operations. Keys of other operations are not found. */
async function findKey(
  db: Db,
  names: readonly string[],
  { operation, key }: { operation: string; key: string },
): Promise<Static<typeof KeyAnswer>> {
  const isKnown = names.includes(operation) && isCallersKey(key)
  const found = isKnown ? await lookup(db, operation, key) : null
  if (found === null) throw refuse('idempotency_key_not_found')
  const { response_status: status, response_body, ...rest } = found
  return { ...rest, status, answer: response_body ? JSON.parse(response_body) : null }
}

const describe = {
  tags: ['checkout'],
  summary:
    'Look up an Idempotency-Key. Shows its stored answer, or the last step that is committed.',
  response: { 200: KeyAnswer },
}

export const merchantRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/idempotency/:operation/:key',
    {
      config: { scope: 'any', failures: ['idempotency_key_not_found'] },
      schema: {
        operationId: 'readMerchantKey',
        params: Type.Object({ operation: Operation(LOOKED_UP), key: Type.String() }),
        ...describe,
        tags: ['merchant-orders'],
        description:
          'Needs the scope of the operation: `manage:own_returns` for `return_receive` and `exchange`, `manage:own_fulfillment` for `label`, `manage:own_subscriptions` for `renewal`, `manage:own_orders` for the others.',
      },
    },
    ({ db, params, merchant }) => {
      requireScope(merchant.scopes, params.operation)
      return findKey(db, LOOKED_UP, params)
    },
  )
}

/** An unknown operation needs the scope of orders, so that other keys cannot find out which operations exist. */
function requireScope(granted: readonly Scope[], operation: string): void {
  const known = Object.hasOwn(LOOKUP_SCOPES, operation) ? LOOKUP_SCOPES[operation] : undefined
  const scope = known ?? OPERATIONS.refund.scope
  if (satisfies(granted, scope)) return
  const message = `The key lacks the scope ${scope}. Use a key that has it.`
  throw new ApiError('forbidden', { message })
}

export const storefrontRoutes: Routes = async (app) => {
  app.get(
    '/v1/tenants/:tenant/idempotency/:operation/:key',
    {
      config: { failures: ['unknown_tenant', 'idempotency_key_not_found'] },
      schema: {
        operationId: 'readShopperKey',
        params: Type.Object({
          tenant: Type.String(),
          operation: Operation(SHOPPER_OPERATIONS),
          key: Type.String(),
        }),
        ...describe,
      },
    },
    async ({ db, params }) => {
      const found = await findKey(db, SHOPPER_OPERATIONS, params)
      return { ...found, answer: shoppersPart(found.answer) }
    },
  )
}

/** An answer that was stored for a merchant. Its reasons are not for shoppers. */
interface MerchantAnswer {
  order?: object
  refund?: object | null
  refunds?: object[]
}

/** Returns the part of an answer that a shopper may see. A merchant may have used a key for the same order. */
function shoppersPart(answer: unknown): unknown {
  const { order, refund, refunds, ...rest } = (answer ?? {}) as MerchantAnswer
  const isMerchants = order !== undefined && 'captured_cents' in order
  if (!isMerchants) return answer
  return {
    order: forShopper(order as MerchantOrder),
    ...(refund !== undefined && { refund: refund && { ...refund, reason: null } }),
    ...(refunds && { refunds: refunds.map((each) => ({ ...each, reason: null })) }),
    ...rest,
  }
}
