import { type Static, Type } from 'typebox'

/** A card as the shopper types it. */
export interface TypedCard {
  ccnumber: string
  ccexp: string
  cvv?: string
}

/** A card that was typed into the gateway's own form, which gave this for it. */
export interface CardToken {
  payment_token: string
}

/** Either of them. Any text: what is no card has issues of its own. */
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
