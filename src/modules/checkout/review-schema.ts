import { type Static, Type } from 'typebox'
import { Nullable, ref } from '../../kernel/schema.ts'
import { Ban, BanKind, BanTerms, FraudDecision } from '../fraud/schema.ts'
import { MerchantOrder } from '../orders/schema.ts'

export const OneOrder = Type.Object({ order: ref(MerchantOrder) })

/** An order that waits for a person to look at it, and why. */
export const Review = Type.Object({
  order: ref(MerchantOrder),
  decision: Nullable(ref(FraudDecision)),
})
export type Review = Static<typeof Review>

const kinds = Type.Array(BanKind, { minItems: 1, maxItems: 8 })

/** Any text: a text that is not an id is not found. */
const order_id = Type.String({ maxLength: 200 })

/** Which facts of an order's shopper are banned. Each value is taken from the order. */
export const BanFromOrder = Type.Object({ order_id, kinds, ...BanTerms.properties })
export type BanFromOrder = Static<typeof BanFromOrder>

export const Banned = Type.Object({ bans: Type.Array(ref(Ban)) })

export const Rejection = Type.Object({
  note: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2_000 }))),
  ban: Type.Optional(Nullable(Type.Object({ kinds, ...BanTerms.properties }))),
})
export type Rejection = Static<typeof Rejection>
