import type { Db } from '../../db/database.ts'
import { csvLine } from '../../kernel/csv.ts'
import { decimalAmount } from '../../kernel/money.ts'
import { decryptText } from '../../kernel/tokens.ts'
import type { PayoutStatus } from './commission-schema.ts'
import { listForBank } from './payout-queries.ts'
import { type AffiliateKeys, accountContext } from './service.ts'

/** A table of payouts for the bank: the only answer with unencrypted accounts. */

const COLUMNS = [
  'reference',
  'name',
  'account',
  'amount',
  'currency',
  'status',
  'payout_id',
  'affiliate_id',
  'created_at',
]

const PAGE_ROWS = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Exports payouts as CSV, page by page: no transaction is open between two pages, and only one is in memory. */
export async function* exportCsv(
  { account: key }: AffiliateKeys,
  db: Db,
  status: PayoutStatus,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  for (let after = BEFORE_ALL; ; ) {
    const page = await listForBank(db, status, after, PAGE_ROWS)
    const last = page.at(-1)
    if (last === undefined) return
    const accountOf = (row: (typeof page)[number]): string =>
      row.payout_account === null
        ? ''
        : decryptText(
            key,
            row.payout_account,
            accountContext(db.tenant, row.affiliate_id),
          ).toString()
    yield page
      .map((row) =>
        csvLine([
          row.reference,
          row.name,
          accountOf(row),
          decimalAmount(row.amount_cents, row.currency),
          row.currency,
          row.status,
          row.id,
          row.affiliate_id,
          row.created_at,
        ]),
      )
      .join('')
    after = last.id
  }
}
