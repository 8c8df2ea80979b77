import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Tx } from '../../../src/db/database.ts'
import { Sql } from '../../../src/db/sql.ts'
import { closeHolds, hold, post } from '../../../src/modules/ledger/money.ts'
import { ACCOUNT_KINDS, type NewJournal } from '../../../src/modules/ledger/schema.ts'
import { listEntriesOfOrder } from '../../../src/modules/ledger/service.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { openPlatform } from '../../harness/platform.ts'

const platform = await openPlatform({ after })
const superuser = await platform.database.openAdmin()

const raw = (text: string) => new Sql([text], [])

async function openStore() {
  const [tenant = ''] = await platform.addStores(1)
  return platform.app.tenant(tenant)
}

const write = async (journal: NewJournal) => {
  const db = await openStore()
  const posted = await db.transaction('test', (tx) => post(tx, journal))
  return { db, posted }
}

const sale = (order_id: string): NewJournal => ({
  kind: 'sale',
  currency: 'USD',
  order_id,
  entries: [
    { account: 'card_clearing', amount_cents: 900 },
    { account: 'store_credit', ref: 'an account', amount_cents: 200 },
    { account: 'sales', amount_cents: -1_000 },
    { account: 'discount', amount_cents: 0 },
    { account: 'tax_payable', amount_cents: -100 },
  ],
})

describe('a journal', () => {
  test('is stored with its entries in order, without entries of zero', async () => {
    const order = randomUUID()
    const { db, posted } = await write(sale(order))
    const entries = await listEntriesOfOrder(db, order)
    assert.deepEqual(
      entries.map(({ account, ref, amount_cents }) => [account, ref, amount_cents]),
      [
        ['card_clearing', '', 900],
        ['store_credit', 'an account', 200],
        ['sales', '', -1_000],
        ['tax_payable', '', -100],
      ],
    )
    assert.ok(entries.every((each) => each.journal_id === posted.journal_id))
    assert.ok(entries.every((each) => each.kind === 'sale' && each.currency === 'USD'))
    const [other = ''] = await platform.addStores(1)
    assert.deepEqual(await listEntriesOfOrder(platform.app.tenant(other), order), [])
  })

  test('is dated now, or at the given time of the event', async () => {
    const [now, then] = [randomUUID(), randomUUID()]
    const { db } = await write(sale(now))
    await db.transaction('late', (tx) =>
      post(tx, { ...sale(then), at: '2025-03-31T22:00:00.123Z' }),
    )
    const dateOf = async (order: string) => (await listEntriesOfOrder(db, order))[0]?.created_at
    assert.equal(await dateOf(then), '2025-03-31T22:00:00.123Z')
    assert.ok(Math.abs(Date.parse((await dateOf(now)) ?? '') - Date.now()) < 60_000)
  })

  test('a journal that moves nothing is not written', async () => {
    const order = randomUUID()
    const entries = [{ account: 'sales', amount_cents: 0 }] as const
    const { db, posted } = await write({ kind: 'sale', currency: 'USD', order_id: order, entries })
    assert.equal(posted.journal_id, null)
    assert.deepEqual(await listEntriesOfOrder(db, order), [])
  })

  test('is written if it sums to zero, and refused with any other sum', async () => {
    const db = await openStore()
    const entry = fc.record({
      // What an exchange takes from one order it brings to another, in a journal of its own.
      account: fc.constantFrom(...ACCOUNT_KINDS.filter((kind) => kind !== 'exchange')),
      ref: fc.constantFrom('', 'a', 'b'),
      amount_cents: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    })
    const journals = fc.record({
      entries: fc.array(entry, { maxLength: 8 }),
      off: fc.integer({ min: -1, max: 1 }),
    })
    await fc.assert(
      fc.asyncProperty(journals, async ({ entries, off }) => {
        const order_id = randomUUID()
        const sum = entries.reduce((total, { amount_cents }) => total + amount_cents, 0)
        const closing = { account: 'suspense', ref: '', amount_cents: off - sum } as const
        const journal = {
          kind: 'random',
          currency: 'USD',
          order_id,
          entries: [...entries, closing],
        }
        const posting = db.transaction('test', (tx) => post(tx, journal))
        if (off !== 0) {
          await assert.rejects(posting, /is off by -?1 cents/)
          assert.deepEqual(await listEntriesOfOrder(db, order_id), [])
          return
        }
        await posting
        const kept = await listEntriesOfOrder(db, order_id)
        const moved = journal.entries.filter(({ amount_cents }) => amount_cents !== 0)
        assert.equal(kept.length, moved.length)
        assert.equal(
          kept.reduce((total, { amount_cents }) => total + amount_cents, 0),
          0,
        )
      }),
      { numRuns: 60 },
    )
    await assertOracles(superuser)
  })

  test('is refused with a fraction of a cent, or beyond the safe integers', async () => {
    for (const amount of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      const entries = [
        { account: 'sales', amount_cents: amount },
        { account: 'suspense', amount_cents: -amount },
      ] as const
      await assert.rejects(
        write({ kind: 'odd', currency: 'USD', entries }),
        /whole number of cents/,
      )
    }
    const max = Number.MAX_SAFE_INTEGER
    const entries = [
      { account: 'sales', amount_cents: max },
      { account: 'refund', amount_cents: max },
      { account: 'suspense', amount_cents: -max },
      { account: 'breakage', amount_cents: -max },
    ] as const
    assert.ok((await write({ kind: 'large', currency: 'USD', entries })).posted.journal_id)
  })
})

describe('the database, without the code of the ledger', () => {
  const journal = (tx: Tx, id: string) =>
    tx.run(
      raw(`insert into ledger_journals (tenant_ref, id, kind, currency)
           values ('${tx.tenant}', '${id}', 'forged', 'USD')`),
    )
  const entry = (tx: Tx, id: string, position: number, amount: number, currency = 'USD') =>
    tx.run(
      raw(`insert into ledger_entries
                  (tenant_ref, journal_id, position, account, currency, amount_cents)
           values ('${tx.tenant}', '${id}', ${position}, 'sales', '${currency}', ${amount})`),
    )

  for (const role of ['app', 'worker'] as const) {
    test(`refuses to commit an unbalanced journal of fd_${role}`, async () => {
      const { tenant } = await openStore()
      const db = platform[role].tenant(tenant)
      const id = randomUUID()
      let written = 0
      const forging = db.transaction('forge', async (tx) => {
        await journal(tx, id)
        written += await entry(tx, id, 0, 100)
        written += await entry(tx, id, 1, -99)
      })
      await assert.rejects(forging, { code: 'FD003', message: /does not sum to zero/ })
      assert.equal(
        written,
        2,
        'the statements themselves passed: it is the commit that was refused',
      )
      const { rows } = await superuser.query('select from ledger_journals where id = $1', [id])
      assert.equal(rows.length, 0)
    })
  }

  test('does not balance one currency with another', async () => {
    const db = await openStore()
    const id = randomUUID()
    const forging = db.transaction('forge', async (tx) => {
      await journal(tx, id)
      await entry(tx, id, 0, 100)
      await entry(tx, id, 1, -100, 'EUR')
    })
    await assert.rejects(forging, { code: 'FD003', message: /mixes currencies/ })
  })

  test('refuses more entries for a committed journal, even if they balance', async () => {
    const { db, posted } = await write(sale(randomUUID()))
    const adding = db.transaction('forge', async (tx) => {
      await entry(tx, posted.journal_id ?? '', 10, 5)
      await entry(tx, posted.journal_id ?? '', 11, -5)
    })
    await assert.rejects(adding, { code: 'FD003', message: /is closed/ })
  })

  test('lets no role change or delete journals or links', async () => {
    const { db } = await write(sale(randomUUID()))
    for (const table of ['ledger_journals', 'ledger_entries', 'ledger_seals']) {
      const acts = [
        `update ${table} set tenant_ref = tenant_ref`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
      ]
      for (const act of acts) {
        for (const role of ['app', 'worker'] as const) {
          const refused = platform[role].tenant(db.tenant).run(raw(act))
          await assert.rejects(refused, { code: '42501' }, `${role}: ${act}`)
        }
        await assert.rejects(superuser.query(act), { code: 'FD002' }, act)
        await superuser.query('begin')
        await superuser.query('set local role fd_owner')
        await assert.rejects(superuser.query(act), { code: 'FD002' }, act)
        await superuser.query('rollback')
      }
    }
  })
})

describe('holds', () => {
  const wanted = (order_id: string) =>
    ({ account: 'gift_card', ref: 'a card', currency: 'USD', amount_cents: 70, order_id }) as const

  test('are closed once, by one of many callers, and only those of the order', async () => {
    const db = await openStore()
    const [order_id, other] = [randomUUID(), randomUUID()]
    await db.transaction('hold', async (tx) => {
      await hold(tx, wanted(order_id))
      await hold(tx, { ...wanted(order_id), account: 'store_credit', ref: 'an account' })
      await hold(tx, wanted(other))
    })
    const close = (to: 'posted' | 'voided') =>
      db.transaction('close', (tx) => closeHolds(tx, { order_id, to }))
    const closed = (await Promise.all([close('posted'), close('voided'), close('posted')])).flat()
    assert.equal(closed.length, 2)
    assert.equal(new Set(closed.map(({ state }) => state)).size, 1)
    assert.ok(closed.every((each) => each.order_id === order_id && each.closed_at !== null))
  })

  test('can be closed for one kind of account', async () => {
    const db = await openStore()
    const order_id = randomUUID()
    await db.transaction('test', async (tx) => {
      await hold(tx, wanted(order_id))
      await hold(tx, { ...wanted(order_id), account: 'store_credit', ref: 'an account' })
      const gifts = await closeHolds(tx, { order_id, to: 'voided', account: 'gift_card' })
      assert.deepEqual(
        gifts.map(({ account, state }) => [account, state]),
        [['gift_card', 'voided']],
      )
      const rest = await closeHolds(tx, { order_id, to: 'expired' })
      assert.deepEqual(
        rest.map(({ account, state }) => [account, state]),
        [['store_credit', 'expired']],
      )
    })
  })
})
