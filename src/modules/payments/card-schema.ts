import { type Static, Type } from 'typebox'

/** A card as the shopper types it. */
export interface TypedCard {
  ccnumber: string
  ccexp: string
  cvv?: string
}

/** A card that the shopper typed into the gateway's own form, which returned this token for it. */
export interface CardToken {
  payment_token: string
}

/** A typed card or a token. Any text passes here: `readCard` names what is wrong with a card. */
export const CardInput = Type.Unsafe<TypedCard | CardToken>({
  type: 'object',
  properties: {
    ccnumber: Type.String(),
    ccexp: Type.String({ description: 'The expiry of the card, as MM/YY.', examples: ['10/30'] }),
    cvv: Type.String(),
    payment_token: Type.String({
      description:
        "The token that the gateway's own form returned for the card. Send it instead of the other members.",
    }),
  },
  if: { properties: { payment_token: true }, required: ['payment_token'] },
  else: { properties: { ccnumber: true, ccexp: true }, required: ['ccnumber', 'ccexp'] },
})
export type CardInput = Static<typeof CardInput>
