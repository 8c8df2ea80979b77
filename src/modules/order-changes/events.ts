import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, ref, Shared } from '../../kernel/schema.ts'
import { defineOrderEvent } from '../orders/events.ts'
import { OrderRefund } from '../orders/schema.ts'
import { defineEvent } from '../webhooks/define-event.ts'
import { CorrectedMembers } from './correct-schema.ts'
import { CANCEL_REASONS } from './schema.ts'

const { reason: _, ...wordless } = OrderRefund.properties

/** A refund as events show it: its reason is free text of a merchant or a shopper. */
export const EventRefund = Shared(
  'EventRefund',
  Type.Object(wordless, { description: 'A refund, without its reason.' }),
)
export type EventRefund = Static<typeof EventRefund>

export const withoutReason = ({ reason: _, ...refund }: OrderRefund): EventRefund => refund

const totals = {
  delta_cents: Type.Integer({ description: 'By how much the total has changed, in cents.' }),
  total_before_cents: Type.Integer({ ...Cents, description: 'The total before the change.' }),
  total_cents: Type.Integer({ ...Cents, description: 'The total after the change.' }),
}

export const orderRefunded = defineOrderEvent('commerce.order.refunded.v1', {
  when: 'Money of an order was refunded, also by a cancellation, a return or a lost dispute, or moved by an exchange.',
  more: { refund: ref(EventRefund) },
})

export const orderCancelled = defineOrderEvent('commerce.order.cancelled.v1', {
  when: 'An order was cancelled. The events of its refunds come before.',
  more: {
    reason: Type.Enum([...CANCEL_REASONS], { description: 'Why it was cancelled.' }),
    refunds: Type.Array(
      Type.Object({
        refund_id: Id,
        amount_cents: Type.Integer({ ...Cents, description: 'What was refunded.' }),
      }),
      { description: 'The refunds of the cancellation.' },
    ),
  },
})

export const orderEdited = defineOrderEvent('commerce.order.edited.v1', {
  when: 'The quantities or prices of an order have changed.',
  more: {
    ...totals,
    lines: Type.Array(
      Type.Object({
        order_item_id: Id,
        quantity: Type.Integer({ description: 'How many units the line has now.' }),
      }),
      { description: 'The lines that have changed.' },
    ),
  },
})

export const orderCorrected = defineOrderEvent('commerce.order.corrected.v1', {
  when: 'The address, e-mail address, name, shipping or tax of an order was corrected.',
  more: { changed: CorrectedMembers, ...totals },
})

export const disputeOpened = defineEvent('commerce.dispute.opened.v1', {
  when: 'A card holder has asked the bank for the money of an order.',
  data: Type.Object({
    order_id: Type.String({ ...Id, description: 'The disputed order.' }),
    order_number: Type.Integer(),
    txn_id: Type.Unsafe<string | null>({
      ...Nullable(Type.String()),
      description: "The gateway's id of the disputed payment. Null where it is not known.",
    }),
  }),
})

export const events = [orderRefunded, orderCancelled, orderEdited, orderCorrected, disputeOpened]
