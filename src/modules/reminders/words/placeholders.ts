import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by `npm run texts` from `en.json`. */
export interface Placeholders {
  subject: { store: Value }
}
