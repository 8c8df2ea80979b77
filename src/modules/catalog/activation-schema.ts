import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'
import { REQUEST_STATUSES } from '../entitlements/schema.ts'

/** A merchant's request that the operator makes a draft product active. */
const request = {
  id: Id,
  status: Type.Enum([...REQUEST_STATUSES], {
    description: '`withdrawn`: the product was archived before the operator decided.',
  }),
  note: Nullable(Type.String()),
  requested_by: Type.String(),
  created_at: Timestamp,
  decided_at: Nullable(Timestamp),
  decision_note: Nullable(Type.String()),
}

/** A request as the answer of its product shows it. */
export const ProductRequest = Type.Object(request)

export const ActivationRequest = Shared(
  'ActivationRequest',
  Type.Object({ product_id: Id, ...request }),
)
export type ActivationRequest = Static<typeof ActivationRequest>

/** A request as the operator sees it: with its store and the name of its product. */
export const StoreActivationRequest = Shared(
  'StoreActivationRequest',
  Type.Object({
    tenant_ref: Type.String(),
    product_name: Type.String(),
    ...ActivationRequest.properties,
  }),
)

export const NewActivationRequest = Type.Object({
  note: Type.Optional(Type.String({ maxLength: 2_000 })),
})
export type NewActivationRequest = Static<typeof NewActivationRequest>

/** Something that a shopper would miss in a product. The product goes live all the same. */
export const ActivationWarning = Type.Object({
  path: Type.String({ description: 'The place in the product, as a JSON Pointer (RFC 6901).' }),
  code: Type.Enum(['no_price', 'no_image']),
  message: Type.String(),
})
export type ActivationWarning = Static<typeof ActivationWarning>

/** The member with these warnings, in the answer of every change of a product, its variants and its images. */
export const liveWarnings = {
  activation_warnings: Type.Array(ActivationWarning, {
    description:
      'What shoppers miss in the product after the change: a price or an image. Empty unless the product is active; nothing is refused for it.',
  }),
}
