/**
 * Every event type of a store, and whether a merchant may subscribe to it. The contract allows exactly
 * one; the others are also emitted and numbered, and can be read in the feed.
 */
export const EVENTS = {
  'commerce.order.placed.v1': { deliverable: true },
  'commerce.order.cancelled.v1': { deliverable: false },
  'commerce.order.refunded.v1': { deliverable: false },
  'commerce.order.edited.v1': { deliverable: false },
  'commerce.order.held.v1': { deliverable: false },
  'commerce.order.released.v1': { deliverable: false },
  'commerce.order.shipped.v1': { deliverable: false },
  'commerce.order.delivered.v1': { deliverable: false },
  'commerce.return.requested.v1': { deliverable: false },
  'commerce.return.approved.v1': { deliverable: false },
  'commerce.return.received.v1': { deliverable: false },
  'commerce.subscription.renewed.v1': { deliverable: false },
  'commerce.subscription.past_due.v1': { deliverable: false },
  'commerce.subscription.cancelled.v1': { deliverable: false },
  'commerce.inventory.low.v1': { deliverable: false },
  'commerce.giftcard.issued.v1': { deliverable: false },
  'commerce.dispute.opened.v1': { deliverable: false },
  'platform.webhook.paused.v1': { deliverable: false },
} as const satisfies Record<string, { deliverable: boolean }>

export type EventType = keyof typeof EVENTS

export const isDeliverable = (name: string): boolean =>
  Object.hasOwn(EVENTS, name) && EVENTS[name as EventType].deliverable
