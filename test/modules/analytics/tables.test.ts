import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addVariant, type Shop } from '../checkout/setup.ts'
import { ok, shareTimedApp, type TimedApp, URL } from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp
let shop: Shop

/** More variants than groups of an answer, and than a page of the report about inventory has. */
const VARIANTS = 104
const DAY = 'from=2026-03-02&to=2026-03-02'

/** The lines of a table, by the names of its columns. */
function linesOf(text: string): Record<string, string>[] {
  const [columns = [], ...lines] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(',').map((cell) => cell.replace(/^"|"$/g, '')))
  return lines.map((cells) =>
    Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])),
  )
}

const readTable = async (path: string) => {
  const answer = await shop.merchant.get(`${URL}/${path}`)
  ok(answer)
  return linesOf(answer.text)
}

const sumOf = (lines: Record<string, string>[], name: string) =>
  lines.reduce((sum, line) => sum + Number(line[name]), 0)

/** Each variant costs a cent more than the one before, and one of each is sold. */
async function sellEach() {
  shop = await app.shopIn('wide', 'UTC')
  app.setTime('wide', '2026-03-02T12:00:00Z')
  const items: { variant_id: string; quantity: number }[] = []
  for (let n = 1; n <= VARIANTS; n++) {
    items.push({ variant_id: await addVariant(shop.merchant, 100 + n), quantity: 1 })
  }
  await app.place(shop, { items })
  for (const { variant_id } of items) {
    ok(await shop.merchant.put(`/v1/merchant/inventory/${variant_id}`, { track_inventory: true }))
  }
  await app.count()
}

describe('the table of a report', () => {
  before(async () => {
    app = shared.current
    await sellEach()
  })

  test('the table of a report of groups has a line for the rows in no group, and adds up', async () => {
    for (const group_by of ['product', 'variant']) {
      const body = ok(await shop.merchant.get(`${URL}/sales?${DAY}&group_by=${group_by}`))
      const lines = await readTable(`sales.csv?${DAY}&group_by=${group_by}`)
      assert.equal(lines.length, 101)
      for (const name of ['gross_cents', 'net_cents', 'units_count', 'total_cents']) {
        assert.equal(sumOf(lines, name), body[name], name)
      }
      const rest = lines.at(-1)
      assert.deepEqual([rest?.key, rest?.label], ['(rest)', 'rest'])
      // Those with the lowest net sales.
      assert.equal(rest?.net_cents, String(101 + 102 + 103 + 104))
    }
  })

  test('the table of a report of groups has no such line when every row is in a group', async () => {
    const lines = await readTable(`sales.csv?${DAY}&group_by=source`)
    assert.equal(lines.length, 1)
    const tax = await readTable(`tax.csv?${DAY}`)
    assert.equal(tax.length, 1)
  })

  test('the table of a report of inventory has every tracked variant once', async () => {
    const lines = await readTable(`inventory.csv?${DAY}`)
    assert.equal(new Set(lines.map(({ variant_id }) => variant_id)).size, VARIANTS)
    assert.equal(lines.length, VARIANTS)
    const { gross_cents, units_count } = ok(await shop.merchant.get(`${URL}/summary?${DAY}`))
    assert.deepEqual(
      [sumOf(lines, 'net_cents'), sumOf(lines, 'units_count')],
      [gross_cents, units_count],
    )
    const accept = { accept: 'text/csv' }
    const byHeader = await shop.merchant.send('GET', `${URL}/inventory?${DAY}`, undefined, accept)
    assert.deepEqual(linesOf(byHeader.text), lines)
  })

  test('the table of inventory continues after the given cursor', async () => {
    const { variants, next_after } = ok(await shop.merchant.get(`${URL}/inventory?${DAY}`))
    const lines = await readTable(`inventory.csv?${DAY}&after=${next_after}`)
    assert.equal(lines.length, VARIANTS - variants.length)
  })

  test('is refused as a whole if the cursor is not valid', async () => {
    const answer = await shop.merchant.get(`${URL}/inventory.csv?${DAY}&after=garbage`)
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_query'])
  })
})
