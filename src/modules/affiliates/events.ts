import { Type } from 'typebox'
import { Id } from '../../kernel/schema.ts'
import { defineEvent } from '../webhooks/define-event.ts'
import { Payout } from './commission-schema.ts'
import { Affiliate } from './schema.ts'

/** No event about an affiliate names the person. */
const { id, status, commission_type, rate_bps, amount_cents } = Affiliate.properties
const about = Type.Object({
  affiliate: Type.Object(
    {
      id,
      status,
      referral_codes: Type.Array(Type.String(), { description: 'The codes of its links.' }),
      commission_type,
      rate_bps,
      amount_cents,
    },
    { description: 'The affiliate, without the person.' },
  ),
})

export const affiliateApplied = defineEvent('commerce.affiliate.applied.v1', {
  when: 'A stranger has asked to become an affiliate.',
  data: about,
})

export const affiliateActivated = defineEvent('commerce.affiliate.activated.v1', {
  when: 'The merchant has approved an affiliate.',
  data: about,
})

export const commissionClawedBack = defineEvent('commerce.affiliate.clawed_back.v1', {
  when: 'An order that had earned a commission has lost goods: by a refund, an edit, an exchange or a dispute.',
  data: Type.Object({
    commission: Type.Object({
      id: Id,
      affiliate_id: Id,
      order_id: Id,
      currency: Type.String(),
      base_cents: Type.Integer({ description: 'By how much the goods of the order have changed.' }),
      amount_cents: Type.Integer({ description: 'What the affiliate loses: below zero.' }),
      reason: Type.Enum(['refund', 'edit', 'exchange', 'test_order'], {
        description: '`test_order`: the order turned out to be a test.',
      }),
    }),
  }),
})

const { reference, ...payout } = Payout.properties

export const affiliatePaid = defineEvent('commerce.affiliate.paid.v1', {
  when: 'A payout of an affiliate was marked as paid.',
  data: Type.Object({
    payout: Type.Object({
      id: payout.id,
      affiliate_id: payout.affiliate_id,
      currency: payout.currency,
      amount_cents: payout.amount_cents,
      reference,
    }),
  }),
})

export const events = [affiliateApplied, affiliateActivated, commissionClawedBack, affiliatePaid]
