import { Type } from 'typebox'
import { Email, Id, Nullable, Timestamp } from '../../kernel/schema.ts'

export const LinkRequest = Type.Object({
  order_number: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }),
  email: Email,
  return_url: Type.String({
    maxLength: 500,
    description:
      "The page of the shop that opens links: the token is appended as the last part of its path. Its host has to be one of the store's.",
  }),
  ip: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description: "The shopper's address: requests are limited by it.",
      }),
    ),
  ),
})
export type LinkRequest = Type.Static<typeof LinkRequest>

export const LinkToken = Type.Object({ token: Type.String({ minLength: 1, maxLength: 500 }) })

/** The order that a link opens. */
export const OpenedLink = Type.Object({
  order_id: Id,
  customer_ref: Type.String(),
  expires_at: Timestamp,
})
