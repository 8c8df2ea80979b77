import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { UNMOVED } from '../../src/db/store-clocks.ts'
import { newId } from '../../src/kernel/id.ts'
import { DAY_MS } from '../../src/kernel/time.ts'
import { openTestDatabase } from '../harness/database.ts'
import { share } from '../harness/scope.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const shared = share((scope) => openTestDatabase(scope))

const timeOf = (id: string) => Number.parseInt(id.slice(0, 13).replace('-', ''), 16)

describe('fd_uuid()', () => {
  test('gives uuids of version 7, each no earlier than the one before', async () => {
    const admin = await shared.current.openAdmin()
    const { rows } = await admin.query<{ id: string }>(
      'select fd_uuid() as id from generate_series(1, 2000)',
    )
    const ids = rows.map(({ id }) => id)
    for (const id of ids) assert.match(id, VERSION_7)
    const times = ids.map((id) => id.slice(0, 18))
    assert.deepEqual(times, times.toSorted())
    assert.ok(new Set(times).size > 100, 'the time is finer than a millisecond')
    assert.equal(new Set(ids.map((id) => id.slice(19))).size, ids.length)
  })

  test('follows the time of the machine, as newId() does, also for a store whose clock is moved', async (t) => {
    const database = new Database({
      url: shared.current.roleUrl('fd_app'),
      name: 'ids',
      max: 1,
      clocks: { ...UNMOVED, offsetMs: () => 30 * DAY_MS },
    })
    t.after(() => database.close())
    const before = newId()
    const { id, ahead } = await database
      .tenant('acme')
      .one(
        Type.Object({ id: Type.String(), ahead: Type.Boolean() }),
        sql`select fd_uuid() as id, fd_now() > clock_timestamp() + interval '29 days' as ahead`,
      )
    const after = newId()
    assert.ok(ahead)
    // The server's clock is this machine's, and a fraction of a millisecond may lie between the two.
    assert.ok(timeOf(before) <= timeOf(id) + 1 && timeOf(id) <= timeOf(after) + 1)
  })

  test('is inlined into the plan of each insert, without a function call', async () => {
    const admin = await shared.current.openAdmin()
    const { rows } = await admin.query(
      `explain (verbose) insert into outbox (tenant_ref, type, payload) values ('acme', 'x', '{}')`,
    )
    const plan = JSON.stringify(rows)
    assert.match(plan, /gen_random_uuid|uuidv7/)
    assert.doesNotMatch(plan, /fd_uuid/)
  })

  test('is the default of every uuid column that has a default', async () => {
    const admin = await shared.current.openAdmin()
    const { rows } = await admin.query<{ name: string; written: string }>(
      `select format('%s.%s', d.adrelid::regclass, a.attname) as name,
              pg_get_expr(d.adbin, d.adrelid) as written
         from pg_attrdef d
         join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
         join pg_class c on c.oid = d.adrelid
        where c.relnamespace = 'public'::regnamespace and a.atttypid = 'uuid'::regtype`,
    )
    assert.ok(rows.length > 25)
    assert.deepEqual(
      rows.filter(({ written }) => written !== 'fd_uuid()'),
      [],
    )
  })
})
