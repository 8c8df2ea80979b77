import type { Db, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isCustomerRef, isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { isAddress } from '../../platform/mail.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import * as queries from './queries.ts'
import type { ReminderSettings, ReminderSettingsChange, ReminderState } from './schema.ts'

/**
 * Reminders of checkouts that were begun and not finished. They are off unless the store has confirmed that its law
 * allows them; until then no cart is stored.
 */

const OFF: ReminderSettings = {
  enabled: false,
  basis: 'consent',
  first_after_minutes: 60,
  second_after_minutes: 1_440,
  law_confirmed_by: null,
  law_confirmed_at: null,
}

export const readSettings = async (db: Db): Promise<ReminderSettings> =>
  (await queries.findSettings(db)) ?? OFF

/** Switches reminders on or off. When they are switched off, all stored carts are deleted at once. */
export function changeSettings(
  db: TenantDb,
  actor: audit.Actor,
  { law_allows = false, ...change }: ReminderSettingsChange,
): Promise<ReminderSettings> {
  if (change.enabled && !law_allows) {
    throw invalidBody('law_allows', 'must be true: only you know whether your law allows reminders')
  }
  return db.transaction('reminders: settings', async (tx) => {
    const before = await queries.lockSettings(tx)
    const confirmed = change.enabled
      ? { law_confirmed_by: actor.name, law_confirmed_at: isoNow(tx.clock) }
      : {}
    const after = await queries.writeSettings(tx, { ...before, ...change, ...confirmed })
    if (!after.enabled) await queries.deleteAll(tx)
    await audit.record(tx, actor, {
      action: 'store.reminders_changed',
      entity: `store:${tx.tenant}`,
      before,
      after,
    })
    return after
  })
}

export async function list(db: Db, state: ReminderState | undefined, page: Page) {
  const { rows, shown } = await queries.list(db, state, page)
  return { reminders: rows, ...shown }
}

/** The most carts of one store that are recorded in a minute: more than its shoppers can type. */
const CARTS_PER_MINUTE = 600

/** The most lines of a cart that are stored: more than a reminder shows. */
const ITEMS_MAX = 50

/** A cart that a shopper looks at, with the address that they have entered. */
export interface ShownCart {
  email?: string | null | undefined
  customer_ref?: string | null | undefined
  items: readonly { variant_id: string; quantity: number }[]
}

/**
 * Records a cart for a reminder, if the store wants that. A cart without an address costs nothing. A text that is
 * not an address is ignored: the shopper may still be typing.
 */
export async function keepCart(
  limits: Pick<Limits, 'velocity'>,
  db: Db,
  { email, customer_ref, items }: ShownCart,
): Promise<void> {
  const email_folded = email && isAddress(email) ? foldEmail(email) : null
  if (!email || email_folded === null) return
  if (!(await limits.velocity(`reminders:${db.tenant}`, CARTS_PER_MINUTE))) return
  const known = items
    .filter(({ variant_id }) => isUuid(variant_id))
    .slice(0, ITEMS_MAX)
    .map(({ variant_id, quantity }) => ({ variant_id: variant_id.toLowerCase(), quantity }))
  const ref = customer_ref && isCustomerRef(customer_ref) ? customer_ref : null
  await queries.keepCart(db, { email, email_folded, customer_ref: ref, items: known })
}
