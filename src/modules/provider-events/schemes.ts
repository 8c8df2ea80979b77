import { verifyStandard, verifyStripe } from '../../platform/event-signatures.ts'
import { type EventScheme, objectAt, paymentSubject } from '../../platform/provider-events.ts'
import { ADAPTERS } from '../payments/adapters/all.ts'

const stripe: EventScheme = {
  verify: verifyStripe,
  label: (_, { id, type }) => ({ id, type }),
  read: (type, body) =>
    paymentSubject(
      type,
      { transaction: /^(charge|payment_intent|refund)\./, dispute: /^charge\.dispute\./ },
      objectAt(objectAt(objectAt(body, 'data'), 'object'), 'metadata'),
    ),
}

/** Standard Webhooks. */
const standard: EventScheme = {
  verify: verifyStandard,
  label: (headers, { type }) => ({ id: headers['webhook-id'], type }),
  read: (type, body) =>
    paymentSubject(
      type,
      { transaction: /^transaction\./, dispute: /^(chargeback|dispute)\./ },
      objectAt(body, 'data'),
    ),
}

/** The schemes of our gateways, and those that several providers share. */
const SCHEMES: ReadonlyMap<string, EventScheme> = new Map([
  ...ADAPTERS.flatMap(({ name, events }) => (events === null ? [] : [[name, events] as const])),
  ['stripe', stripe],
  ['standard', standard],
])

export function schemeOf(name: string): EventScheme {
  const scheme = SCHEMES.get(name)
  if (scheme === undefined) throw new Error(`this process has no scheme ${name}`)
  return scheme
}
