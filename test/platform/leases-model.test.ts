import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { TenantDb } from '../../src/db/database.ts'
import { LeaseLostError } from '../../src/platform/leases.ts'
import { CHORES_TABLE, DONE, type HeldChore, newQueue } from '../harness/chores.ts'
import { openPlatform } from '../harness/platform.ts'

const { addStores, query, worker } = await openPlatform({ after }, 2)
await query(CHORES_TABLE)
const queue = newQueue()

interface Row {
  token: string | null
  expired: boolean
  done: boolean
}

/** The expected rows of the queue, and every lease it has granted. */
interface Model {
  rows: Map<string, Row>
  leases: HeldChore[]
}

type Command = fc.AsyncCommand<Model, TenantDb>

const onLease = (
  name: string,
  pick: number,
  act: (row: Row, lease: HeldChore, held: boolean, db: TenantDb) => Promise<void>,
): Command => ({
  check: ({ leases }) => leases.length > 0,
  async run(model, db) {
    const lease = model.leases[pick % model.leases.length]
    const row = lease && model.rows.get(lease.id)
    assert.ok(lease && row)
    await act(row, lease, row.token === lease.lease_token, db)
  },
  toString: () => `${name}(${pick})`,
})

const publish = (): Command => ({
  check: () => true,
  async run({ rows }, db) {
    const [made] = await query<{ id: string }>(
      "insert into chores (tenant_ref, name) values ($1, 'a chore') returning id",
      [db.tenant],
    )
    assert.ok(made)
    rows.set(made.id, { token: null, expired: false, done: false })
  },
  toString: () => 'publish',
})

const take = (limit: number): Command => ({
  check: () => true,
  async run({ rows, leases }, db) {
    const free = [...rows].filter(([, row]) => !row.done && (row.token === null || row.expired))
    const got = await queue.claim(db, limit)
    assert.equal(got.length, Math.min(limit, free.length))
    for (const lease of got) {
      assert.ok(free.some(([id]) => id === lease.id))
      rows.set(lease.id, { token: lease.lease_token, expired: false, done: false })
      leases.push(lease)
    }
  },
  toString: () => `take(${limit})`,
})

const finish = (pick: number) =>
  onLease('finish', pick, async (row, lease, held, db) => {
    if (!held) return assert.rejects(queue.finish(db, lease, DONE), LeaseLostError)
    await queue.finish(db, lease, DONE)
    Object.assign(row, { token: null, expired: false, done: true })
  })

const renew = (pick: number) =>
  onLease('renew', pick, async (row, lease, held, db) => {
    assert.equal(await queue.renew(db, lease), held)
    if (held) row.expired = false
  })

const giveBack = (pick: number) =>
  onLease('giveBack', pick, async (row, lease, held, db) => {
    await queue.release(db, lease)
    if (held) Object.assign(row, { token: null, expired: false })
  })

const expireLease = (pick: number) =>
  onLease('expireLease', pick, async (row, lease, held) => {
    if (!held) return
    await query("update chores set lease_until = now() - interval '1 s' where id = $1", [lease.id])
    row.expired = true
  })

test('any order of claiming, finishing, renewing and expiring finishes each row once', async () => {
  const pick = fc.nat(50)
  const commands = fc.commands<Model, TenantDb, false>(
    [
      fc.constant(publish()),
      fc.integer({ min: 1, max: 3 }).map(take),
      pick.map(finish),
      pick.map(renew),
      pick.map(giveBack),
      pick.map(expireLease),
    ],
    { maxCommands: 60, size: 'max' },
  )
  const property = fc.asyncProperty(commands, async (steps) => {
    const [ref = ''] = await addStores(1)
    const db = worker.tenant(ref)
    const model: Model = { rows: new Map(), leases: [] }
    await fc.asyncModelRun(() => ({ model, real: db }), steps)
    const rows = await query<{ id: string; done_count: number }>(
      'select id, done_count from chores where tenant_ref = $1',
      [db.tenant],
    )
    for (const { id, done_count } of rows) {
      assert.equal(done_count, model.rows.get(id)?.done ? 1 : 0)
    }
  })
  await fc.assert(property, { numRuns: 25 })
})
