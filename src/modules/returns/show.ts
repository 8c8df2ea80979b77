import type { Disposition, Return, ReturnExchange } from '../orders/return-schema.ts'
import { receivedOf } from './plan-receipt.ts'
import type { ExchangeRow, ReturnLineRow, ReturnRow } from './schema.ts'

/** Returns as the API shows them: to the merchant, to the shopper, in an event. */

function dispositionOf(line: ReturnLineRow): Disposition | 'mixed' | null {
  const counts: [Disposition, number][] = [
    ['restock', line.restocked_quantity],
    ['damaged', line.damaged_quantity],
    ['quarantine', line.quarantined_quantity],
    ['missing', line.missing_quantity],
  ]
  const [first, ...others] = counts.filter(([, quantity]) => quantity > 0)
  if (first === undefined) return null
  return others.length === 0 ? first[0] : 'mixed'
}

function shownLine(row: ReturnLineRow) {
  const { quarantine_location_id: _, waived_quantity: __, ...line } = row
  return { ...line, received_quantity: receivedOf(row), disposition: dispositionOf(row) }
}

export const shown = ({ lines, ...row }: ReturnRow): Return => ({
  ...row,
  lines: lines.map(shownLine),
})

export const shownExchange = (row: ExchangeRow): ReturnExchange => ({
  id: row.id,
  order_id: row.order_id,
  status: row.status,
  advance: row.advance,
  amount_cents: row.amount_cents,
  created_at: row.created_at,
  placed_at: row.placed_at,
  released_at: row.released_at,
})

/** Returns a return as its shopper sees it, without the texts that are only for the merchant. */
export const forShopper = (row: ReturnRow): Return => {
  const { lines, ...rest } = shown(row)
  const isOwn = row.requested_by === 'shopper'
  return {
    ...rest,
    note: null,
    lines: lines.map((line) => ({ ...line, reason: isOwn ? line.reason : null })),
  }
}

/** Returns a return as an event shows it, without the texts of people. */
export const forEvent = (row: ReturnRow): Return => {
  const { lines, ...rest } = shown(row)
  const wordless = { note: null, instructions: null, label_url: null, decline_reason: null }
  return { ...rest, ...wordless, lines: lines.map((line) => ({ ...line, reason: null })) }
}
