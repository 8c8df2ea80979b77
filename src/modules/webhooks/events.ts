/**
 * Every event type of a store, and whether any store may subscribe to it. The contract allows exactly
 * one. The others are also emitted and numbered, and can be read in the feed; an endpoint gets them
 * while the store has the add-on `extended_events`.
 */
export const EVENTS = {
  'commerce.order.placed.v1': { deliverable: true },
  'commerce.order.cancelled.v1': { deliverable: false },
  'commerce.order.refunded.v1': { deliverable: false },
  'commerce.order.edited.v1': { deliverable: false },
  'commerce.order.corrected.v1': { deliverable: false },
  'commerce.order.held.v1': { deliverable: false },
  'commerce.order.released.v1': { deliverable: false },
  'commerce.order.payment_requested.v1': { deliverable: false },
  'commerce.order.shipped.v1': { deliverable: false },
  'commerce.order.delivered.v1': { deliverable: false },
  'commerce.return.requested.v1': { deliverable: false },
  'commerce.return.approved.v1': { deliverable: false },
  'commerce.return.received.v1': { deliverable: false },
  'commerce.return.exchanged.v1': { deliverable: false },
  'commerce.return.exchange_released.v1': { deliverable: false },
  'commerce.subscription.updated.v1': { deliverable: false },
  'commerce.subscription.paused.v1': { deliverable: false },
  'commerce.subscription.resumed.v1': { deliverable: false },
  'commerce.subscription.renewed.v1': { deliverable: false },
  'commerce.subscription.past_due.v1': { deliverable: false },
  'commerce.subscription.payment_failed.v1': { deliverable: false },
  'commerce.subscription.recovered.v1': { deliverable: false },
  'commerce.subscription.skipped.v1': { deliverable: false },
  'commerce.subscription.expired.v1': { deliverable: false },
  'commerce.subscription.upcoming.v1': { deliverable: false },
  'commerce.subscription.price_changed.v1': { deliverable: false },
  'commerce.subscription.card_expiring.v1': { deliverable: false },
  'commerce.subscription.cancelled.v1': { deliverable: false },
  'commerce.inventory.low.v1': { deliverable: false },
  'commerce.giftcard.issued.v1': { deliverable: false },
  'commerce.dispute.opened.v1': { deliverable: false },
  'commerce.affiliate.applied.v1': { deliverable: false },
  'commerce.affiliate.activated.v1': { deliverable: false },
  'commerce.affiliate.clawed_back.v1': { deliverable: false },
  'commerce.affiliate.paid.v1': { deliverable: false },
  'commerce.campaign.paused.v1': { deliverable: false },
  'platform.webhook.paused.v1': { deliverable: false },
} as const satisfies Record<string, { deliverable: boolean }>

export type EventType = keyof typeof EVENTS

export const isDeliverable = (name: string): boolean => isEvent(name) && EVENTS[name].deliverable

/** Whether the feed has events of this name. */
export const isEvent = (name: string): name is EventType => Object.hasOwn(EVENTS, name)

/** The add-on of a store whose endpoints may subscribe to every event of its feed. */
export const EXTENDED_EVENTS = 'extended_events'
