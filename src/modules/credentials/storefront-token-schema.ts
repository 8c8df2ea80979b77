import { type Static, Type } from 'typebox'
import { Id, Line, Shared, Timestamp } from '../../kernel/schema.ts'

/** A token of a store as it is listed: without the token, which is stored nowhere. */
export const StorefrontToken = Shared(
  'StorefrontToken',
  Type.Object({
    id: Id,
    label: Type.String(),
    hint: Type.String({ description: 'The last four characters of the token.' }),
    created_at: Timestamp,
  }),
)
export type StorefrontToken = Static<typeof StorefrontToken>

/** The only answer that has the token. */
export const IssuedStorefrontToken = Shared(
  'IssuedStorefrontToken',
  Type.Object({
    storefront_token: Type.Object({
      ...StorefrontToken.properties,
      token: Type.String({
        pattern: '^fdst_',
        description: 'Send it as `x-storefront-token`. It is shown only here.',
      }),
    }),
  }),
)

export const NewStorefrontToken = Type.Object({
  label: Line(80),
})
export type NewStorefrontToken = Static<typeof NewStorefrontToken>
