import type { TenantDb } from '../../db/database.ts'
import type { UpdatedCards } from '../../platform/provider-events.ts'
import type { Outcome, WebhookReceived } from '../provider-events/schema.ts'
import * as providerEvents from '../provider-events/service.ts'
import * as cycles from '../subscriptions/cycles.ts'

/**
 * Acts on an event about stored cards. The vault already has the new card when the event comes. Here only the shown
 * facts of the card change, and an open charge is tried at once. An event of closed accounts blocks the stored cards.
 */
export async function onCardUpdate(
  db: TenantDb,
  event: WebhookReceived,
  subject: UpdatedCards,
): Promise<void> {
  await providerEvents.recordOutcome(db, event, await act(db, subject))
}

async function act(db: TenantDb, { cards, isClosed }: UpdatedCards): Promise<Outcome> {
  let changed = 0
  for (const card of cards) {
    for (const { id } of await cycles.listOfVault(db, card.vault_id)) {
      await db.transaction('renewals: card updater', (tx) =>
        isClosed ? cycles.blockStored(tx, id) : cycles.updateCard(tx, id, card),
      )
      changed++
    }
  }
  return changed > 0
    ? { status: 'applied', reason: 'card_updated' }
    : { status: 'ignored', reason: 'no_card_of_ours' }
}
