import { type TObject, Type } from 'typebox'
import { Id, Timestamp } from '../../kernel/schema.ts'
import type { EventFace } from '../face-parts.ts'
import type { Events } from './define-event.ts'

/** The events as endpoints receive them, for the API document. */

/** Each event by its type, with its envelope. */
export const describeEvents = (events: Events) =>
  Object.fromEntries(
    [...events.values()].map((event) => [
      event.type,
      { operationId: nameOf(event.type), summary: event.when, envelope: envelopeOf(event) },
    ]),
  )

/** Names an event after its type: `commerce.order.payment_requested.v1` is `orderPaymentRequested`. */
export function nameOf(type: string): string {
  const [first = '', ...rest] = type.split(/[._]/).slice(1, -1)
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The members of the data of an event, with the one that the numbering loop adds. */
export function membersOf({ type, data }: EventFace): TObject {
  if (!Type.IsObject(data)) throw new Error(`the data of ${type} have no members`)
  const sequence = Type.Integer({
    minimum: 1,
    description: "The position of this event in the store's feed.",
  })
  return Type.Object({ ...data.properties, sequence })
}

const envelopeOf = (event: EventFace) =>
  Type.Object({
    id: Type.String({
      ...Id,
      description: 'The id of the event, the same in every attempt. Skip an id that you have seen.',
    }),
    type: Type.Literal(event.type),
    tenant_ref: Type.String(),
    created_at: Timestamp,
    data: membersOf(event),
  })
