import { digestEquals } from '../../../../kernel/tokens.ts'
import {
  type EventScheme,
  type Json,
  macOf,
  objectAt,
  paymentSubject,
  textOf,
  type UpdatedCards,
} from '../../../../platform/provider-events.ts'

/** Visible ASCII without the comma, which separates the parts. */
const SIGNATURE = /^t=([\x21-\x2b\x2d-\x7e]{1,200}),s=([0-9a-f]{64})$/i

const TOPICS = { transaction: /^transaction\./, dispute: /^chargeback\./ }

/** Events of the automatic card updater. The vault already has the new card when the event comes. */
const UPDATER = /^acu\./

/** NMI's events. `t` is a nonce and not a time, so an old event cannot be told from a new one here. */
export const nmiEvents: EventScheme = {
  verify(key, { headers, raw }) {
    const [, nonce, mac] = SIGNATURE.exec(textOf(headers, 'webhook-signature')) ?? []
    if (nonce === undefined || mac === undefined) return false
    return digestEquals(Buffer.from(mac, 'hex'), macOf(key, nonce, raw))
  },
  label: (_, { event_id, event_type }) => ({ id: event_id, type: event_type }),
  read: (type, body) =>
    UPDATER.test(type)
      ? readUpdate(type, body)
      : paymentSubject(type, TOPICS, objectAt(body, 'event_body')),
}

function readUpdate(type: string, body: Json) {
  const isUpdate = type.endsWith('.automaticallyupdated')
  if (!isUpdate && !type.endsWith('.closedaccount')) return { topic: 'other' } as const
  return { topic: 'cards', isClosed: !isUpdate, cards: cardsIn(body) } as const
}

type UpdatedCard = UpdatedCards['cards'][number]

/** The most cards of an event, which names those of a batch: more is no event of a store. */
const CARDS_MAX = 10_000
const DEPTH_MAX = 6

/** Returns all stored cards that an event names, anywhere in its body: NMI does not say where. */
function cardsIn(body: unknown): UpdatedCard[] {
  const found: UpdatedCard[] = []
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return
    const card = Array.isArray(value) ? null : cardOf(value as Record<string, unknown>)
    if (card !== null && found.length < CARDS_MAX) found.push(card)
    for (const each of Object.values(value)) visit(each, depth + 1)
  }
  visit(body, 0)
  return found
}

const VAULT_ID = /^[\x21-\x7e]{1,100}$/
const EXPIRY = /^(0[1-9]|1[0-2])\/?([0-9]{2})$/
const LAST4 = /([0-9]{4})$/
const BRAND = /^[a-z]{2,20}$/

function cardOf(value: Record<string, unknown>): UpdatedCard | null {
  const text = (name: string, form: RegExp) => {
    const given = value[name]
    return typeof given === 'string' || typeof given === 'number' ? form.exec(`${given}`) : null
  }
  const vault = text('customer_vault_id', VAULT_ID)
  if (vault === null) return null
  const expiry = text('cc_exp', EXPIRY)
  return {
    vault_id: vault[0],
    brand: text('cc_type', BRAND)?.[0] ?? null,
    last4: text('cc_number', LAST4)?.[1] ?? null,
    exp_month: expiry === null ? null : Number(expiry[1]),
    exp_year: expiry === null ? null : 2_000 + Number(expiry[2]),
  }
}
