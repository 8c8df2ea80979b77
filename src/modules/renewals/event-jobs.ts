import type { TenantDb } from '../../db/database.ts'
import type { Outcome, WebhookReceived } from '../gateway/schema.ts'
import * as gateway from '../gateway/service.ts'
import type { UpdatedCard } from '../subscriptions/cycle-schema.ts'
import * as cycles from '../subscriptions/cycles.ts'

/**
 * Events of NMI's automatic card updater. The vault already has the new card when the event comes. Here
 * only the shown facts of the card change, and an open charge is tried at once. An event of a closed
 * account blocks the stored card.
 */

const UPDATER = /^acu\./

export const isOfCardUpdater = ({ event_type }: WebhookReceived): boolean =>
  UPDATER.test(event_type ?? '')

export async function onCardUpdate(db: TenantDb, event: WebhookReceived): Promise<void> {
  const body = await gateway.readEventBody(db, event)
  if (body === null) return
  await gateway.recordOutcome(db, event, await act(db, event.event_type ?? '', cardsIn(body)))
}

async function act(db: TenantDb, type: string, cards: readonly StoredCard[]): Promise<Outcome> {
  const isUpdate = type.endsWith('.automaticallyupdated')
  if (!isUpdate && !type.endsWith('.closedaccount'))
    return { status: 'ignored', reason: 'other_type' }
  let changed = 0
  for (const card of cards) {
    for (const { id } of await cycles.listOfVault(db, card.vault_id)) {
      await db.transaction('renewals: card updater', (tx) =>
        isUpdate ? cycles.updateCard(tx, id, card) : cycles.blockStored(tx, id),
      )
      changed++
    }
  }
  return changed > 0
    ? { status: 'applied', reason: 'card_updated' }
    : { status: 'ignored', reason: 'no_card_of_ours' }
}

interface StoredCard extends UpdatedCard {
  vault_id: string
}

/** The most cards of an event, which names those of a batch: more is no event of a store. */
const CARDS_MAX = 10_000
const DEPTH_MAX = 6

/** Returns all stored cards that an event names, anywhere in its body: NMI does not say where. */
function cardsIn(body: unknown): StoredCard[] {
  const found: StoredCard[] = []
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

function cardOf(value: Record<string, unknown>): StoredCard | null {
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
