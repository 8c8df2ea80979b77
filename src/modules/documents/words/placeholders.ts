import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by `npm run texts` from `en.json`. */
export interface Placeholders {
  taxAt: { rate: Value }
  taxInsideAt: { rate: Value }
  endingIn: { what: Value; last4: Value }
  paidWith: { what: Value }
  refundOn: { date: Value }
  changeOn: { date: Value }
  units: { count: number }
  moreFollows: { units: Value }
  cancelledOn: { date: Value }
  page: { page: Value; pages: Value }
}
