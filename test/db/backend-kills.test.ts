import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Type } from 'typebox'
import type { TenantDb } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import * as stores from '../../src/modules/stores/service.ts'
import { record, SYSTEM } from '../../src/platform/audit.ts'
import { publish } from '../../src/platform/outbox.ts'
import { openTestDatabase } from '../harness/database.ts'
import { eventually } from '../harness/eventually.ts'

/** A few seconds here; `npm run torture` gives it minutes. */
const SECONDS = Number(process.env.KILL_SECONDS ?? 4)
const WRITERS = 16
const KILL_EVERY_MS = 10

interface Tally {
  committed: string[]
  failed: number
}

/** The fewest that prove something; a busy machine gets the time for them. */
const KILLS_MIN = 20

const MARKED = { type: 'torture', payload: Type.Object({ mark: Type.String() }) }

/** Writes two entries in one transaction, with a read in between, until the time is over. */
async function write(db: TenantDb, isOver: () => boolean, tally: Tally) {
  while (!isOver()) {
    const mark = randomUUID()
    try {
      await db.transaction('two legs', async (tx) => {
        await record(tx, SYSTEM, { action: 'torture', entity: mark })
        await tx.one(Type.Object({ n: Type.Integer() }), sql`select count(*)::int as n from stores`)
        await publish(tx, MARKED, { mark })
      })
      tally.committed.push(mark)
    } catch {
      tally.failed++
    }
    await db.run(sql`select 1 from stores where tenant_ref = ${db.tenant}`).catch(() => {})
  }
}

/** Kills one backend of the application at a time, whatever it is doing. */
async function kill(admin: pg.Client): Promise<number> {
  const until = performance.now() + SECONDS * 1_000
  let kills = 0
  while (performance.now() < until || kills <= KILLS_MIN) {
    const { rowCount } = await admin.query(`
      select pg_terminate_backend(pid)
        from pg_stat_activity
       where usename = 'fd_app' and datname = current_database()
       order by random() limit 1`)
    kills += rowCount ?? 0
    await sleep(KILL_EVERY_MS)
  }
  return kills
}

test('a backend killed at any moment leaves no half of a transaction', async (t) => {
  const database = await openTestDatabase(t)
  const app = database.open('fd_app', 10)
  await stores.create(app, SYSTEM, { tenant_ref: 'acme', display_name: 'Acme' })
  const db = app.tenant('acme')
  const admin = await database.openAdmin()

  const tally: Tally = { committed: [], failed: 0 }
  let over = false
  const writers = Array.from({ length: WRITERS }, () => write(db, () => over, tally))
  const kills = await kill(admin).finally(() => {
    over = true
  })
  await Promise.all(writers)
  t.diagnostic(`${tally.committed.length} commits, ${tally.failed} failures, ${kills} kills`)

  assert.ok(kills > KILLS_MIN && tally.failed > 0, 'the kills must hit something')
  const { rows } = await admin.query<{ mark: string; legs: string }>(`
    select mark, string_agg(leg, ',' order by leg) as legs
      from (select entity as mark, 'audit' as leg from audit_log where action = 'torture'
            union all
            select payload->>'mark', 'outbox' from outbox where type = 'torture') both_legs
     group by mark`)
  const halves = rows.filter(({ legs }) => legs !== 'audit,outbox')
  assert.deepEqual(halves, [], 'no transaction may leave one leg')
  const kept = new Set(rows.map(({ mark }) => mark))
  const lost = tally.committed.filter((mark) => !kept.has(mark))
  assert.deepEqual(lost, [], 'what was committed must be there')

  await eventually(() => db.run(sql`select 1`))
  assert.deepEqual(app.load, { busy: 0, waiting: 0 }, 'no connection may be left behind')
})
