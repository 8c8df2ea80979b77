import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by `npm run texts` from `en.json`. */
export interface Placeholders {
  approved: { store: Value }
  approvedText: { store: Value }
  code: { code: Value }
  paid: { store: Value }
  paidText: { store: Value; amount: Value; reference: Value }
}
