import type { Db } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as queries from './commission-queries.ts'
import type { Commission, Payout } from './commission-schema.ts'
import { refuse } from './errors.ts'
import * as payouts from './payout-queries.ts'

/** Reads commissions and payouts. */

export async function list(db: Db, filters: queries.CommissionFilters, page: Page) {
  const { rows, shown } = await queries.listCommissions(db, filters, page)
  return { commissions: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<Commission> {
  const found = isUuid(id) ? await queries.findCommission(db, id) : null
  if (found === null) throw refuse('commission_not_found')
  return found
}

/** The code of the affiliate who earns by an order; null if no affiliate earns. */
export async function attributedCode(
  db: Db,
  { id, referral_code }: { id: string; referral_code: string | null },
): Promise<string | null> {
  if (referral_code === null) return null
  const found = await queries.findAttributed(db, id)
  return found?.code ?? null
}

export async function listPayouts(db: Db, filters: payouts.PayoutFilters, page: Page) {
  const { rows, shown } = await payouts.listPayouts(db, filters, page)
  return { payouts: rows, ...shown }
}

export async function getPayout(db: Db, id: string): Promise<Payout> {
  const found = isUuid(id) ? await payouts.findPayout(db, id) : null
  if (found === null) throw refuse('payout_not_found')
  return found
}
