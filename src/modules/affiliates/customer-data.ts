import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { MINUTE_MS, toUtc } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as queries from './customer-queries.ts'
import type { Affiliate } from './schema.ts'
import { find } from './service.ts'

/** An affiliate as a person: for a customer's profile, the privacy export and erasure. */

/** The affiliate that a customer is, for their profile. */
export const affiliateOf = (db: Db, customer_ref: string, email: string | null) =>
  queries.findOfCustomer(db, customer_ref, email === null ? null : foldEmail(email))

/** A time as `to_jsonb` writes it. */
const STORED_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/

/** Converts every time in stored data to the format of the API. */
const withUtc = (data: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(data), (_, value: unknown) =>
    typeof value === 'string' && STORED_TIME.test(value) ? toUtc(value) : value,
  )

/** Exports the data of an affiliate who is linked to a customer, for the privacy export. */
export async function exportOf(db: Db, customer_ref: string) {
  const ids = (await queries.listIds(db, customer_ref, [])).map(({ id }) => id)
  return ids.length === 0 ? [] : (await queries.listWhole(db, ids)).map(({ data }) => withUtc(data))
}

/** Erases the affiliates who are this customer. */
export async function eraseCustomer(
  tx: Tx,
  { customer_ref, emails }: { customer_ref: string; emails: readonly string[] },
): Promise<void> {
  const ids = (await queries.listIds(tx, customer_ref, emails)).map(({ id }) => id)
  if (ids.length > 0) await queries.erase(tx, ids)
}

/** Exports all data of one affiliate, who need not be a customer. */
export async function exportAffiliate(db: TenantDb, actor: audit.Actor, id: string) {
  const { id: affiliate_id } = await find(db, id)
  return db.transaction('affiliates: export', async (tx) => {
    const [row] = await queries.listWhole(tx, [affiliate_id])
    const entity = `affiliate:${affiliate_id}`
    await audit.record(tx, actor, { action: 'affiliate.exported', entity })
    return withUtc(row?.data ?? {})
  })
}

const CONFIRM_MS = 10 * MINUTE_MS
type Payload = [tenant: string, id: string, expires: number]

/** Erases an affiliate in two steps: the first returns a token, and the second needs it. */
export async function eraseAffiliate(
  db: TenantDb,
  { actor, key }: { actor: audit.Actor; key: Buffer },
  id: string,
  confirm: string | null,
): Promise<{ affiliate: Affiliate; erased: boolean; confirm: string | null }> {
  const affiliate = await find(db, id)
  if (confirm === null) {
    const payload: Payload = [db.tenant, affiliate.id, db.clock.now() + CONFIRM_MS]
    const token = tokens.sign(key, Buffer.from(JSON.stringify(payload)))
    return { affiliate, erased: affiliate.email === null, confirm: token }
  }
  requireConfirmed(key, db, affiliate.id, confirm)
  return db.transaction('affiliates: erase', async (tx) => {
    await queries.erase(tx, [affiliate.id])
    const entity = `affiliate:${affiliate.id}`
    await audit.record(tx, actor, { action: 'affiliate.erased', entity })
    return { affiliate: await find(tx, affiliate.id), erased: true, confirm: null }
  })
}

function requireConfirmed(key: Buffer, { tenant, clock }: Db, id: string, token: string): void {
  const payload = tokens.verify(key, token)
  const [of, erased, expires]: Payload =
    payload === null ? ['', '', 0] : JSON.parse(payload.toString())
  if (of !== tenant || erased !== id || expires < clock.now()) {
    throw new ApiError('confirm_invalid')
  }
}
